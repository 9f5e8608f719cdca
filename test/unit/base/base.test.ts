import assert from 'node:assert/strict';
import { test } from 'node:test';

import { systemClock } from '../../../src/base/clock.js';
import { createDeferred } from '../../../src/base/deferred.js';
import { DisposableStore, toDisposable } from '../../../src/base/disposable.js';
import { Emitter } from '../../../src/base/emitter.js';
import { CordonError, userMessageOf } from '../../../src/base/errors.js';

test('a store disposes what it owns once, in reverse order', () => {
  const ended: string[] = [];
  const store = new DisposableStore();
  store.add(toDisposable(() => ended.push('first')));
  store.add(toDisposable(() => ended.push('second')));
  store.dispose();
  store.dispose();
  assert.deepEqual(ended, ['second', 'first']);
});

test('adding to a disposed store disposes the late item and throws', () => {
  let isEnded = false;
  const store = new DisposableStore();
  store.dispose();
  assert.throws(() => store.add(toDisposable(() => (isEnded = true))), /disposed store/u);
  assert.equal(isEnded, true);
});

test('an event reaches every listener that is still there, in order', () => {
  const heard: string[] = [];
  const emitter = new Emitter<number>();
  emitter.event((value) => heard.push(`first ${value}`));
  const second = emitter.event((value) => heard.push(`second ${value}`));
  emitter.event(() => {
    second.dispose();
  });
  emitter.fire(1);
  emitter.fire(2);
  emitter.dispose();
  emitter.fire(3);
  assert.deepEqual(heard, ['first 1', 'second 1', 'first 2']);
});

test('a listener that is added while an event is told hears the next one only', () => {
  const heard: number[] = [];
  const emitter = new Emitter<number>();
  const first = emitter.event((value) => {
    first.dispose();
    heard.push(value);
    emitter.event((later) => heard.push(later * 10));
  });
  emitter.fire(1);
  emitter.fire(2);
  assert.deepEqual(heard, [1, 20]);
});

test('a deferred settles from outside', async () => {
  const deferred = createDeferred<number>();
  deferred.resolve(7);
  assert.equal(await deferred.promise, 7);
  const refused = createDeferred<number>();
  refused.reject(new Error('no'));
  await assert.rejects(refused.promise, /no/u);
});

test('the clock calls once, and not at all when disposed', async () => {
  const calls: string[] = [];
  const done = createDeferred<undefined>();
  systemClock.after(0, () => calls.push('disposed')).dispose();
  systemClock.after(0, () => calls.push('called'));
  systemClock.after(1, () => {
    done.resolve(undefined);
  });
  await done.promise;
  assert.deepEqual(calls, ['called']);
});

test('an error has a code, a message for the log and one for a person, and keeps its cause', () => {
  const cause = new Error('ENOENT');
  const error = new CordonError('rootMissing', '/ws/$&', { cause });
  assert.deepEqual(
    {
      code: error.code,
      message: error.message,
      user: error.userMessage,
      show: error.show,
      cause: error.cause,
    },
    {
      code: 'rootMissing',
      message: 'a writable root does not exist: /ws/$&',
      user: 'The writable root /ws/$& does not exist. Create it, or remove it from cordon.filesystem.writableRoots.',
      show: true,
      cause,
    },
  );
  assert.equal(userMessageOf(error), error.userMessage);
  assert.equal(userMessageOf(cause), 'ENOENT');
});

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';

import { request, wishesOf } from '../../../src/cli/request.js';
import { encodeFrame, FrameSplitter } from '../../../src/launch/control/channel.js';
import { requestAccess, requestOver } from '../../../src/launch/control/requestAccess.js';
import type { AccessWish } from '../../../src/launch/control/wishes.js';
import { socketPair } from '../../support/socketPair.js';
import { at } from '../../support/wanted.js';

const because = 'the tests write there';

test('each flag is one wish, and paths are absolute', () => {
  assert.deepEqual(
    wishesOf({
      because,
      read: ['/home/ada/.ssh/config'],
      write: ['out', '/srv/x/'],
      git: ['../p/.git'],
      socket: ['/run/docker.sock'],
      host: ['Example.COM.:443', '192.0.2.1:22', '[2001:db8::1]:443'],
      publish: ['5173'],
    }),
    [
      { access: 'read', path: '/home/ada/.ssh/config' },
      { access: 'write', path: path.resolve('out') },
      { access: 'write', path: '/srv/x' },
      { access: 'git', path: path.resolve('../p/.git') },
      { access: 'socket', path: '/run/docker.sock' },
      { host: 'example.com', port: 443 },
      { host: '192.0.2.1', port: 22 },
      { host: '2001:db8::1', port: 443 },
      { publish: 5173 },
    ],
  );
});

const wrong: readonly (readonly [name: string, flags: Parameters<typeof request>[0]])[] = [
  ['nothing', { because }],
  ['no reason', { because: '  ', write: ['/x'] }],
  ['a reason too long to read', { because: 'x'.repeat(1001), write: ['/x'] }],
  ['a host without a port', { because, host: ['example.com'] }],
  ['a host with two ports', { because, host: ['a:1:2'] }],
  ['port zero', { because, publish: ['0'] }],
  ['a port that is none', { because, publish: ['65536'] }],
  ['a port in words', { because, publish: ['http'] }],
  ['more than a person can answer', { because, write: Array<string>(33).fill('/x') }],
];

for (const [name, flags] of wrong) {
  test(`${name} is wrong use, and nobody is asked`, async () => {
    await assert.rejects(request(flags), { name: 'UsageError' });
  });
}

test('outside of a run there is nobody to ask', async () => {
  await assert.rejects(requestAccess([{ publish: 1 }], because), { code: 'notInside' });
});

/** Plays the supervisor: takes one frame, answers with these bytes. */
async function answered(reply: unknown): Promise<unknown> {
  const [ours, theirs] = await socketPair();
  const want: readonly AccessWish[] = [{ access: 'write', path: at('/srv/x') }, { publish: 1 }];
  const splitter = new FrameSplitter(1 << 20);
  let asked: unknown;
  theirs.on('data', (chunk: Buffer) => {
    for (const bytes of splitter.push(chunk)) {
      if (asked !== undefined) return; // what we sent was not understood
      asked = JSON.parse(bytes.toString('utf8'));
      if (reply === undefined) theirs.destroy();
      else theirs.write(encodeFrame(reply as { kind: string }));
    }
  });
  const results = await requestOver(ours, want, because);
  assert.deepEqual(asked, { kind: 'request', want, because });
  return results;
}

test('there is one result for each wish', async () => {
  const results = [
    { effect: 'allow', reason: 'user', message: null },
    { effect: 'deny', reason: 'noAnswer', message: 'cordon: denied' },
  ];
  assert.deepEqual(await answered({ kind: 'decision', results }), results);
});

const allowed = { effect: 'allow', reason: 'user', message: null };
const broken: readonly (readonly [name: string, reply: unknown])[] = [
  ['nothing', undefined],
  ['another frame', { kind: 'answer', results: [allowed, allowed] }],
  ['too few results', { kind: 'decision', results: [allowed] }],
  [
    'an effect that is none',
    { kind: 'decision', results: [allowed, { ...allowed, effect: 'yes' }] },
  ],
  ['a reason that is none', { kind: 'decision', results: [allowed, { ...allowed, reason: 'x' }] }],
  ['a key too many', { kind: 'decision', results: [allowed, { ...allowed, opens: [] }] }],
];

for (const [name, reply] of broken) {
  test(`an answer with ${name} allows nothing`, async () => {
    await assert.rejects(answered(reply), { code: 'protocolBroken' });
  });
}

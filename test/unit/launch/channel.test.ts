import assert from 'node:assert/strict';
import type net from 'node:net';
import { test } from 'node:test';

import fc from 'fast-check';

import type { Channel, ChannelEnd } from '../../../src/launch/control/channel.js';
import { createChannel, encodeFrame, FrameSplitter } from '../../../src/launch/control/channel.js';
import { socketPair } from '../../support/socketPair.js';

interface Text {
  readonly kind: string;
  readonly text?: string;
}

const parse = (bytes: Uint8Array): Text => JSON.parse(Buffer.from(bytes).toString('utf8')) as Text;

interface Received {
  readonly channel: Channel<Text>;
  readonly frames: Text[];
}

function open(socket: net.Socket, maxBytes?: number): Received {
  const frames: Text[] = [];
  const channel = createChannel<Text, Text>(socket, {
    parse,
    receive: (frame) => frames.push(frame),
    complain: (message) => ({ kind: 'error', text: message }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  return { channel, frames };
}

test('frames come out as they went in, however the bytes are cut', () => {
  const frames = fc.array(
    fc.record(
      { kind: fc.string(), text: fc.string({ unit: 'binary' }) },
      { noNullPrototype: true },
    ),
  );
  const cuts = fc.array(fc.nat());
  fc.assert(
    fc.property(frames, cuts, (sent, at) => {
      const bytes = Buffer.concat(sent.map((frame) => encodeFrame(frame)));
      const points = at.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
      const splitter = new FrameSplitter(1 << 20);
      const out: Text[] = [];
      [...points, bytes.length].reduce((from, to) => {
        for (const frame of splitter.push(bytes.subarray(from, to))) out.push(parse(frame));
        return to;
      }, 0);
      assert.deepEqual(out, sent);
      assert.equal(splitter.isInside, false);
    }),
  );
});

test('random bytes are frames within the limit or a refusal, never anything else', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => {
      const splitter = new FrameSplitter(32);
      try {
        for (const chunk of chunks) {
          for (const frame of splitter.push(Buffer.from(chunk))) {
            assert.ok(frame.length >= 1 && frame.length <= 32);
          }
        }
      } catch (error) {
        assert.match(String(error), /limit is 32/u);
      }
    }),
  );
});

test('bytes that are not UTF-8 travel as lone surrogates', () => {
  const body = encodeFrame({ kind: 'notice', text: 'a\udcff' } as Text).subarray(4);
  assert.equal(body.toString('latin1'), '{"kind":"notice","text":"a\\udcff"}');
});

test('a frame that is too long is not sent, and the channel goes on', async () => {
  const [here, there] = await socketPair();
  const sender = open(here);
  const receiver = open(there);
  assert.throws(() => sender.channel.send({ kind: 'a', text: 'x'.repeat(1 << 20) }), /limit/u);
  sender.channel.send({ kind: 'b' });
  sender.channel.dispose();
  assert.deepEqual(await receiver.channel.closed, { kind: 'ended' });
  assert.deepEqual(receiver.frames, [{ kind: 'b' }]);
});

test('a plan may be longer than other frames', () => {
  assert.equal(
    encodeFrame({ kind: 'plan', text: 'x'.repeat(2 << 20) } as Text).length > 2 << 20,
    true,
  );
  assert.throws(() => encodeFrame({ kind: 'plan', text: 'x'.repeat(8 << 20) } as Text), /limit/u);
});

const breaches: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['a length of zero', Buffer.alloc(4)],
  ['a length beyond the limit', Buffer.from([1, 0, 0x10, 0])],
  ['a length of four gigabytes', Buffer.from([255, 255, 255, 255])],
  ['no JSON', Buffer.from([3, 0, 0, 0, 1, 2, 3])],
  ['text of another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
];

for (const [name, bytes] of breaches) {
  test(`a peer that sends ${name} is told so and loses the connection`, async () => {
    const [here, there] = await socketPair();
    const { channel, frames } = open(here);
    const peer = open(there);
    there.write(bytes);
    const end: ChannelEnd = await channel.closed;
    assert.equal(end.kind, 'broken');
    assert.deepEqual(frames, []);
    await peer.channel.closed;
    assert.equal(peer.frames[0]?.kind, 'error');
    assert.equal(channel.send({ kind: 'late' }), false);
  });
}

test('a peer that leaves inside a frame has broken off', async () => {
  const [here, there] = await socketPair();
  const { channel } = open(here);
  there.end(Buffer.from([9, 0, 0, 0, 1]));
  assert.deepEqual(await channel.closed, {
    kind: 'broken',
    message: 'the peer left inside a frame',
  });
});

test('a peer that leaves between frames has ended', async () => {
  const [here, there] = await socketPair();
  const { channel, frames } = open(here);
  there.end(encodeFrame({ kind: 'a' }));
  assert.deepEqual(await channel.closed, { kind: 'ended' });
  assert.deepEqual(frames, [{ kind: 'a' }]);
});

test('a receiver that throws breaks the channel, and hears nothing more', async () => {
  const [here, there] = await socketPair();
  let calls = 0;
  const channel = createChannel<Text, Text>(here, {
    parse,
    receive: () => {
      calls += 1;
      throw new Error('a frame at the wrong time');
    },
    complain: (message) => ({ kind: 'error', text: message }),
  });
  there.on('error', () => undefined);
  there.write(Buffer.concat([encodeFrame({ kind: 'a' }), encodeFrame({ kind: 'b' })]));
  assert.deepEqual(await channel.closed, { kind: 'broken', message: 'a frame at the wrong time' });
  assert.equal(calls, 1);
  there.destroy();
});

test('what was sent before closing arrives', async () => {
  const [here, there] = await socketPair();
  const sender = open(here);
  const receiver = open(there);
  const texts = Array.from({ length: 100 }, (_, index) => ({ kind: 'a', text: String(index) }));
  for (const text of texts) sender.channel.send(text);
  sender.channel.dispose();
  sender.channel.dispose();
  assert.deepEqual(await sender.channel.closed, { kind: 'closed' });
  await receiver.channel.closed;
  assert.deepEqual(receiver.frames, texts);
});

test('a peer that does not read is given up before it fills the memory', async () => {
  const [here, there] = await socketPair();
  there.pause();
  const { channel } = open(here);
  const text = 'x'.repeat(1 << 19);
  let sent = 0;
  while (channel.send({ kind: 'a', text })) {
    sent += text.length;
    assert.ok(sent < 64 << 20, 'nothing stops the sender');
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(await channel.closed, { kind: 'broken', message: 'the peer does not read' });
  there.destroy();
});

test('a peer that does not read its answers is not read either, until it does', async () => {
  const [here, there] = await socketPair();
  there.pause();
  const { channel, frames } = open(here);
  channel.send({ kind: 'a', text: 'x'.repeat(1 << 19) });
  assert.equal(here.isPaused(), true);
  there.write(encodeFrame({ kind: 'b' }));
  there.resume();
  there.on('data', () => undefined);
  while (frames.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(frames, [{ kind: 'b' }]);
  channel.dispose();
  there.destroy();
  await channel.closed;
});

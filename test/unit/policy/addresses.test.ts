import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import {
  isPublic,
  networkContains,
  parseAddress,
  parseNetwork,
  specialNetworks,
} from '../../../src/policy/addresses.js';

function textOf(written: string): string | undefined {
  return parseAddress(written)?.text;
}

test('an address has one spelling', () => {
  assert.equal(textOf('2001:0DB8:0:0:0:0:0:1'), '2001:db8::1');
  assert.equal(textOf('192.0.2.1'), '192.0.2.1');
});

test('an IPv4-mapped address is its IPv4 address, in every spelling', () => {
  for (const written of ['::ffff:10.0.0.1', '::FFFF:a00:1', '0:0:0:0:0:ffff:10.0.0.1']) {
    assert.equal(textOf(written), '10.0.0.1');
  }
});

test('an IPv4-compatible address stays IPv6', () => {
  assert.equal(textOf('::10.0.0.1'), '::a00:1');
});

test('forms that only some programs read as addresses are none', () => {
  for (const written of [
    '',
    '10.1',
    '010.0.0.1',
    '0x7f.0.0.1',
    '2130706433',
    '1.2.3.4.5',
    'fe80::1%eth0',
    '1::2::3',
    ':::',
    'localhost',
  ]) {
    assert.equal(parseAddress(written), undefined, written);
  }
});

test('addresses of this machine, its surroundings and metadata services are not public', () => {
  const near = [
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '64:ff9b::169.254.169.254',
    '2002:7f00:1::',
  ];
  for (const written of near) {
    const address = parseAddress(written);
    assert.ok(address !== undefined && !isPublic(address), written);
  }
});

test('addresses of the Internet are public', () => {
  for (const written of [
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '172.32.0.0',
    '192.169.0.0',
    '2606:4700::1111',
    '64:ff9b::1.1.1.1',
  ]) {
    const address = parseAddress(written);
    assert.ok(address !== undefined && isPublic(address), written);
  }
});

test('a network with bits beyond its prefix is not taken for another one', () => {
  assert.deepEqual(parseNetwork('10.1.0.0/8'), { kind: 'beyond' });
  for (const written of [
    '10.0.0.0/33',
    '2001:db8::/129',
    '10.0.0.0/',
    '/8',
    '10.0.0.0/-1',
    '::ffff:10.0.0.0/95',
  ]) {
    assert.deepEqual(parseNetwork(written), { kind: 'bad' }, written);
  }
});

test('a network contains an address exactly when their first bits are equal', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (base, other, prefix) => {
      const bits = (text: string): string =>
        text
          .split('.')
          .map((part) => Number(part).toString(2).padStart(8, '0'))
          .join('');
      const head = bits(base).slice(0, prefix).padEnd(32, '0');
      const dotted = [0, 8, 16, 24].map((at) => parseInt(head.slice(at, at + 8), 2)).join('.');
      const parsed = parseNetwork(`${dotted}/${prefix}`);
      const address = parseAddress(other);
      assert.ok(parsed.kind === 'network' && address !== undefined);
      const expected = bits(other).startsWith(bits(base).slice(0, prefix));
      assert.equal(networkContains(parsed.network, address), expected);
    }),
  );
});

test('the special networks are what they are written as', () => {
  for (const network of specialNetworks) {
    assert.deepEqual(parseNetwork(network.text), { kind: 'network', network });
  }
});

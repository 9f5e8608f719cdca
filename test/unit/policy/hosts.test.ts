import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { HostPattern } from '../../../src/policy/hosts.js';
import {
  coveringHosts,
  covers,
  intersect,
  normalHost,
  parseHostPattern,
  writePattern,
} from '../../../src/policy/hosts.js';

/** The canonical form of a pattern, or why it is none. */
function read(written: string): string {
  const parsed = parseHostPattern(written);
  if (parsed.kind === 'pattern') return writePattern(parsed.pattern);
  return parsed.suggestion === undefined
    ? parsed.message
    : `${parsed.message} (${parsed.suggestion})`;
}

const good: readonly (readonly [written: string, canonical: string])[] = [
  ['example.com', 'example.com'],
  ['Example.COM.', 'example.com'],
  ['  example.com  ', 'example.com'],
  ['example.com:443', 'example.com:443'],
  ['example.com:8000-8080', 'example.com:8000-8080'],
  ['example.com:1-65535', 'example.com'],
  ['*.example.com:443', '*.example.com:443'],
  ['*', '*'],
  ['*:443', '*:443'],
  ['münchen.de', 'xn--mnchen-3ya.de'],
  ['*.münchen.de', '*.xn--mnchen-3ya.de'],
  ['_dmarc.example.com', '_dmarc.example.com'],
  ['intranet', 'intranet'],
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:80', '192.0.2.1:80'],
  ['127.0.0.1:8080', '127.0.0.1:8080'],
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['10.0.0.0/8:5432', '10.0.0.0/8:5432'],
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['[::1]:80', '[::1]:80'],
  ['2001:db8::/32', '2001:db8::/32'],
  ['[2001:db8::/32]:443', '[2001:db8::/32]:443'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['[::ffff:10.0.0.1]:80', '10.0.0.1:80'],
  ['localhost:5432', 'localhost:5432'],
  ['LOCALHOST.:5432', 'localhost:5432'],
  ['localhost:3000-3003', 'localhost:3000-3003'],
];

for (const [written, canonical] of good) {
  test(`the pattern ${written} is read as ${canonical}`, () => {
    assert.equal(read(written), canonical);
  });
}

const bad: readonly (readonly [written: string, why: string])[] = [
  ['https://example.com/path', 'is a URL; a host is wanted (example.com)'],
  ['https://user:secret@example.com:8443/', 'is a URL; a host is wanted (example.com:8443)'],
  ['localhost', 'needs a port: localhost:PORT lets that port of this machine in'],
  ['localhost:1-65535', 'names more than 64 ports of this machine'],
  [
    'example.com:0',
    '"example.com:0" has a port that is not a number from 1 to 65535, or a range FROM-TO',
  ],
  [
    'example.com:65536',
    '"example.com:65536" has a port that is not a number from 1 to 65535, or a range FROM-TO',
  ],
  [
    'example.com:',
    '"example.com:" has a port that is not a number from 1 to 65535, or a range FROM-TO',
  ],
  [
    'example.com:90-80',
    '"example.com:90-80" has a port that is not a number from 1 to 65535, or a range FROM-TO',
  ],
  [
    'example.com:http',
    '"example.com:http" has a port that is not a number from 1 to 65535, or a range FROM-TO',
  ],
  ['exam*ple.com', '"exam*ple.com" has * in another place than at the front, as in *.example.com'],
  ['*example.com', '"*example.com" has * in another place than at the front, as in *.example.com'],
  [
    '*.*.example.com',
    '"*.*.example.com" has * in another place than at the front, as in *.example.com',
  ],
  ['example..com', '"example..com" is not a host name'],
  ['-example.com', '"-example.com" is not a host name'],
  ['exa mple.com', '"exa mple.com" is not a host name'],
  ['10.1', '"10.1" is not a host name'],
  ['0x7f.1', '"0x7f.1" is not a host name'],
  ['2130706433', '"2130706433" is not a host name'],
  ['*.1', '"*.1" has * in another place than at the front, as in *.example.com'],
  ['10.1.0.0/8', '"10.1.0.0/8" has bits set beyond the length of its network'],
  [
    '2001:db8::zz',
    '"2001:db8::zz" is not an address or network; with a port, IPv6 goes in brackets: [2001:db8::1]:443',
  ],
  ['', '"" is not a host name'],
  ['.', '"." is not a host name'],
  [`${'a'.repeat(64)}.com`, `"${'a'.repeat(64)}.com" is not a host name`],
];

for (const [written, why] of bad) {
  test(`the pattern ${JSON.stringify(written.slice(0, 30))} is refused: ${why.slice(0, 60)}`, () => {
    assert.equal(read(written), why);
  });
}

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/u);
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
const port = fc.integer({ min: 1, max: 65535 });
const ports = fc
  .tuple(port, port)
  .map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const);
const pattern: fc.Arbitrary<HostPattern> = fc.record(
  {
    kind: fc.constant('host' as const),
    host: fc.oneof(
      name,
      name.map((text) => `*.${text}`),
      fc.constant('*'),
    ),
    ports,
  },
  { noNullPrototype: true },
);
/** Few labels, so that patterns and names often have something in common. */
const nearName = fc
  .array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 4 })
  .map((labels) => labels.join('.'));
const nearPattern: fc.Arbitrary<HostPattern> = fc.record(
  {
    kind: fc.constant('host' as const),
    host: fc.oneof(
      nearName,
      nearName.map((text) => `*.${text}`),
      fc.constant('*'),
    ),
    ports: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 3, max: 5 })),
  },
  { noNullPrototype: true },
);

test('a pattern is written as it can be read again', () => {
  fc.assert(
    fc.property(pattern, (written) => {
      // A name of only "localhost" is a port of this machine, and short names may look like numbers.
      fc.pre(written.kind === 'host' && written.host !== 'localhost');
      assert.deepEqual(parseHostPattern(writePattern(written)), {
        kind: 'pattern',
        pattern: written,
      });
    }),
  );
});

test('a wildcard covers a name exactly when the name ends in a dot and its rest', () => {
  fc.assert(
    fc.property(nearName, nearName, (host, suffix) => {
      assert.equal(coveringHosts(host).includes(`*.${suffix}`), host.endsWith(`.${suffix}`));
    }),
  );
});

test('two patterns match together exactly what their intersection matches', () => {
  const matches = (one: HostPattern | undefined, host: string, on: number): boolean =>
    one !== undefined && covers(one, { kind: 'host', host, ports: [on, on] });
  fc.assert(
    fc.property(
      nearPattern,
      nearPattern,
      nearName,
      fc.integer({ min: 1, max: 5 }),
      (one, other, host, on) => {
        const both = matches(one, host, on) && matches(other, host, on);
        assert.equal(matches(intersect(one, other), host, on), both);
      },
    ),
    { numRuns: 3000 },
  );
});

test('an intersection with a network or a port of this machine', () => {
  const meet = (one: string, other: string): string | undefined => {
    const [left, right] = [parseHostPattern(one), parseHostPattern(other)];
    assert.ok(left.kind === 'pattern' && right.kind === 'pattern');
    const both = intersect(left.pattern, right.pattern);
    return both === undefined ? undefined : writePattern(both);
  };
  assert.equal(meet('*:80', '10.0.0.0/8'), '10.0.0.0/8:80');
  assert.equal(meet('10.0.0.0/8', '10.1.0.0/16:22'), '10.1.0.0/16:22');
  assert.equal(meet('10.0.0.0/8', '11.0.0.0/8'), undefined);
  assert.equal(meet('10.0.0.0/8', 'example.com'), undefined);
  assert.equal(meet('localhost:1-10', 'localhost:5-60'), 'localhost:5-10');
  assert.equal(
    meet('localhost:80', '*'),
    undefined,
    'the Internet and this machine are separate rights',
  );
  assert.equal(meet('localhost:80', '127.0.0.0/8'), undefined);
});

test('a host name is what it is in any case, with a trailing dot or not', () => {
  fc.assert(
    fc.property(name, (host) => {
      fc.pre(normalHost(host) !== undefined);
      assert.equal(normalHost(`${host.toUpperCase()}.`), host);
    }),
  );
});

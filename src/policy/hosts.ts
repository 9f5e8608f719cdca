// Host patterns, as written in settings and on the command line: HOST, HOST:PORT, HOST:FROM-TO, *.HOST, *, addresses,
// networks, localhost:PORT. What they mean and how two of them overlap. Nothing is resolved here.

import { domainToASCII } from 'node:url';

import type { Network } from './addresses.js';
import { networkContains, parseAddress, parseNetwork } from './addresses.js';

/** Ports `from` to `to`, both included, 1 … 65535. */
export type PortRange = readonly [from: number, to: number];

export const ANY_PORT: PortRange = [1, 65535];

export type HostPattern =
  /** `*`, `*.example.com` or a name: ASCII, lower case, no trailing dot. */
  | { readonly kind: 'host'; readonly host: string; readonly ports: PortRange }
  | { readonly kind: 'network'; readonly network: Network; readonly ports: PortRange }
  /** `localhost:PORT`: a port of the machine that Cordon runs on. */
  | { readonly kind: 'hostPort'; readonly ports: PortRange };

export type HostPatternResult =
  | { readonly kind: 'pattern'; readonly pattern: HostPattern }
  | { readonly kind: 'bad'; readonly message: string; readonly suggestion?: string };

/** Ranges of host ports are opened one by one; this many are surely a mistake. */
const MOST_HOST_PORTS = 64;

/** Reads one pattern; a bad one comes with words that continue its key: "is …". */
export function parseHostPattern(written: string): HostPatternResult {
  const text = written.trim();
  const url = /^[a-z][a-z0-9+.-]*:\/\/(?<rest>[^/?#]+)/iu.exec(text)?.groups?.['rest'];
  if (url !== undefined) return bad('is a URL; a host is wanted', url.replace(/^.*@/u, ''));
  const split = splitPorts(text);
  if (split === undefined)
    return bad(
      `${JSON.stringify(written)} has a port that is not a number from 1 to 65535, or a range FROM-TO`,
    );
  const { target, ports } = split;
  if (target.toLowerCase().replace(/\.$/u, '') === 'localhost')
    return hostPort(ports, split.hasPorts);
  if (isAddressLike(target)) return networkPattern(written, target, ports);
  return namePattern(written, target, ports);
}

/** The name as rules and requests hold it: ASCII, lower case, no trailing dot. `undefined` when it is no host name. */
export function normalHost(text: string): string | undefined {
  const bare = text.replace(/\.$/u, '');
  const ascii = /^[\u0000-\u007f]*$/u.test(bare) ? bare.toLowerCase() : domainToASCII(bare);
  const labels = ascii.split('.');
  if (ascii.length === 0 || ascii.length > 253) return undefined;
  if (!labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/u.test(label)))
    return undefined;
  // Programs read 1.2.3, 0x7f.1 and 017700000001 as addresses: such a "name" would be a rule for something else.
  if (/^(?:\d+|0x[0-9a-f]*)$/u.test(labels.at(-1) ?? '')) return undefined;
  return ascii;
}

/** `example.com:443`, `*.example.com`, `10.0.0.0/8:80-90`, `[2001:db8::1]:443`, `localhost:5432`. */
export function writePattern(pattern: HostPattern): string {
  const [from, to] = pattern.ports;
  const ports = from === 1 && to === 65535 ? '' : from === to ? `:${from}` : `:${from}-${to}`;
  switch (pattern.kind) {
    case 'host':
      return pattern.host + ports;
    case 'hostPort':
      return `localhost${ports}`;
    case 'network': {
      const { text, prefix, bits } = pattern.network;
      const short = prefix === bits ? text.slice(0, text.lastIndexOf('/')) : text;
      return (bits === 128 && ports !== '' ? `[${short}]` : short) + ports;
    }
  }
}

/** What both patterns cover; `undefined` when nothing. */
export function intersect(one: HostPattern, other: HostPattern): HostPattern | undefined {
  const ports: PortRange = [
    Math.max(one.ports[0], other.ports[0]),
    Math.min(one.ports[1], other.ports[1]),
  ];
  if (ports[0] > ports[1]) return undefined;
  const narrower = targetCovers(one, other) ? other : targetCovers(other, one) ? one : undefined;
  return narrower === undefined ? undefined : { ...narrower, ports };
}

/** Whether everything that `inner` covers is covered by `outer`. */
export function covers(outer: HostPattern, inner: HostPattern): boolean {
  return (
    outer.ports[0] <= inner.ports[0] &&
    outer.ports[1] >= inner.ports[1] &&
    targetCovers(outer, inner)
  );
}

/** Every `host` of a pattern that covers this name or `*.` pattern, narrowest first. */
export function coveringHosts(host: string): readonly string[] {
  if (host === '*') return ['*'];
  const result = [host];
  const name = host.startsWith('*.') ? host.slice(2) : host;
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
    result.push(`*${name.slice(dot)}`);
  }
  return [...result, '*'];
}

/** Pairs of patterns either contain one another or have nothing in common, ports apart: names are trees, networks are too. */
function targetCovers(outer: HostPattern, inner: HostPattern): boolean {
  if (outer.kind === 'hostPort' || inner.kind === 'hostPort') return outer.kind === inner.kind;
  if (outer.kind === 'host' && outer.host === '*') return true;
  if (outer.kind === 'host')
    return inner.kind === 'host' && coveringHosts(inner.host).includes(outer.host);
  return inner.kind === 'network' && networkContains(outer.network, inner.network);
}

function splitPorts(
  text: string,
): { readonly target: string; readonly ports: PortRange; readonly hasPorts: boolean } | undefined {
  const bracketed = /^\[(?<target>[^\]]*)\](?::(?<ports>.*))?$/u.exec(text);
  const colon = text.indexOf(':');
  const isBareIpv6 = bracketed === null && colon !== text.lastIndexOf(':');
  if (isBareIpv6) return { target: text, ports: ANY_PORT, hasPorts: false };
  const target = bracketed?.groups?.['target'] ?? (colon === -1 ? text : text.slice(0, colon));
  const written =
    bracketed === null
      ? colon === -1
        ? undefined
        : text.slice(colon + 1)
      : bracketed.groups?.['ports'];
  if (written === undefined) return { target, ports: ANY_PORT, hasPorts: false };
  const ports = /^(?<from>\d{1,5})(?:-(?<to>\d{1,5}))?$/u.exec(written)?.groups;
  const from = Number(ports?.['from']);
  const to = ports?.['to'] === undefined ? from : Number(ports['to']);
  if (!(from >= 1 && from <= to && to <= 65535)) return undefined;
  return { target, ports: [from, to], hasPorts: true };
}

function isAddressLike(target: string): boolean {
  return target.includes(':') || target.includes('/') || parseAddress(target) !== undefined;
}

function networkPattern(written: string, target: string, ports: PortRange): HostPatternResult {
  const parsed = parseNetwork(target);
  if (parsed.kind === 'network')
    return { kind: 'pattern', pattern: { kind: 'network', network: parsed.network, ports } };
  if (parsed.kind === 'beyond')
    return bad(`${JSON.stringify(written)} has bits set beyond the length of its network`);
  return bad(
    `${JSON.stringify(written)} is not an address or network; with a port, IPv6 goes in brackets: [2001:db8::1]:443`,
  );
}

function hostPort(ports: PortRange, hasPorts: boolean): HostPatternResult {
  if (!hasPorts) return bad('needs a port: localhost:PORT lets that port of this machine in');
  if (ports[1] - ports[0] >= MOST_HOST_PORTS)
    return bad(`names more than ${MOST_HOST_PORTS} ports of this machine`);
  return { kind: 'pattern', pattern: { kind: 'hostPort', ports } };
}

function namePattern(written: string, target: string, ports: PortRange): HostPatternResult {
  if (target === '*') return { kind: 'pattern', pattern: { kind: 'host', host: '*', ports } };
  const isWild = target.startsWith('*.');
  const name = normalHost(isWild ? target.slice(2) : target);
  if (name !== undefined) {
    return { kind: 'pattern', pattern: { kind: 'host', host: isWild ? `*.${name}` : name, ports } };
  }
  if (target.includes('*'))
    return bad(
      `${JSON.stringify(written)} has * in another place than at the front, as in *.example.com`,
    );
  return bad(`${JSON.stringify(written)} is not a host name`);
}

function bad(message: string, suggestion?: string): HostPatternResult {
  return suggestion === undefined ? { kind: 'bad', message } : { kind: 'bad', message, suggestion };
}

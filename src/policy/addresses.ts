// Numeric addresses and networks. IPv4-mapped IPv6 addresses are IPv4 here, always: one host, one decision.

import ipaddr from 'ipaddr.js';

export interface Network {
  readonly bits: 32 | 128;
  readonly prefix: number;
  /** The first `prefix` bits, as a number. */
  readonly head: bigint;
  /** Canonical: `10.0.0.0/8`. Networks are equal when their texts are. */
  readonly text: string;
}

/** A network of one address, written without its length: `10.0.0.1`, `2001:db8::1`. */
export type Address = Network;

type Parsed = ipaddr.IPv4 | ipaddr.IPv6;

/** `undefined` for anything but a plain numeric address: no octal or short forms, no zones. */
export function parseAddress(text: string): Address | undefined {
  const parsed = parse(text);
  return parsed === undefined ? undefined : toAddress(parsed);
}

/** `10.0.0.0/8` or one address. `beyond`: bits after the prefix are set, which nobody means. */
export function parseNetwork(
  text: string,
): { readonly kind: 'network'; readonly network: Network } | { readonly kind: 'beyond' | 'bad' } {
  const match = /^(?<address>[^/]+)(?:\/(?<prefix>\d{1,3}))?$/u.exec(text);
  const parsed = parse(match?.groups?.['address'] ?? '');
  if (parsed === undefined) return { kind: 'bad' };
  const isMapped = parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress();
  const address = toAddress(parsed);
  const written = match?.groups?.['prefix'];
  const prefix = written === undefined ? address.bits : Number(written) - (isMapped ? 96 : 0);
  if (prefix < 0 || prefix > address.bits) return { kind: 'bad' };
  const head = address.head >> BigInt(address.bits - prefix);
  if (head << BigInt(address.bits - prefix) !== address.head) return { kind: 'beyond' };
  const network = { bits: address.bits, prefix, head, text: `${address.text}/${prefix}` };
  return { kind: 'network', network };
}

export function networkContains(outer: Network, inner: Network): boolean {
  if (outer.bits !== inner.bits || outer.prefix > inner.prefix) return false;
  return inner.head >> BigInt(inner.prefix - outer.prefix) === outer.head;
}

/**
 * Networks that no rule about names opens, because they lead into this machine or its surroundings: a name that resolves to
 * one of them is asked about as such. Metadata services (169.254.169.254, fd00:ec2::254) are among them.
 */
export const specialNetworks: readonly Network[] = [
  v4([0], 8),
  v4([10], 8),
  v4([100, 64], 10),
  v4([127], 8),
  v4([169, 254], 16),
  v4([172, 16], 12),
  v4([192, 0, 0], 24),
  v4([192, 168], 16),
  v4([198, 18], 15),
  v4([224], 4),
  v4([240], 4),
  v6('::/96', []), // unspecified, loopback, IPv4-compatible
  v6('::ffff:0:0:0/96', [0, 0, 0, 0, 0xffff, 0]), // IPv4-translated
  v6('64:ff9b::/96', [0x64, 0xff9b]), // NAT64: an IPv4 address in its last bits, judged by that one
  v6('64:ff9b:1::/48', [0x64, 0xff9b, 1]),
  v6('100::/64', [0x100]),
  v6('2001::/32', [0x2001, 0]), // Teredo
  v6('2002::/16', [0x2002]), // 6to4
  v6('fc00::/7', [0xfc00]),
  v6('fe80::/9', [0xfe80]), // link-local and site-local
  v6('ff00::/8', [0xff00]),
];

const NAT64 = '64:ff9b::/96';

/** Not a private, loopback, link-local, metadata, multicast or otherwise special address. */
export function isPublic(address: Address): boolean {
  const special = specialNetworks.find((network) => networkContains(network, address));
  if (special === undefined) return true;
  if (special.text !== NAT64) return false;
  return isPublic({ bits: 32, prefix: 32, head: address.head & 0xffff_ffffn, text: '' });
}

function parse(text: string): Parsed | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  // inet_ntop(3) writes ::102:304 as ::1.2.3.4, which the library would take for the mapped ::ffff:1.2.3.4.
  const compatible = /^::(?<tail>\d+\.\d+\.\d+\.\d+)$/u.exec(text)?.groups?.['tail'];
  if (compatible !== undefined) {
    if (!ipaddr.IPv4.isValidFourPartDecimal(compatible)) return undefined;
    return new ipaddr.IPv6([
      ...new Array<number>(12).fill(0),
      ...ipaddr.IPv4.parse(compatible).octets,
    ]);
  }
  if (!/^[0-9a-f:.]+$/iu.test(text)) return undefined;
  try {
    return ipaddr.IPv6.parse(text);
  } catch {
    return undefined; // the library's only way to say that it is no address; asking it before costs as much again
  }
}

function toAddress(parsed: Parsed): Address {
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress())
    return toAddress(parsed.toIPv4Address());
  const bits = parsed instanceof ipaddr.IPv4 ? 32 : 128;
  const head = parsed.toByteArray().reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const text = parsed instanceof ipaddr.IPv6 ? parsed.toRFC5952String() : parsed.toString();
  return { bits, prefix: bits, head, text };
}

/** The constants above without the library, which takes longer for them than the rest of a start. */
function v4(bytes: readonly number[], prefix: number): Network {
  const all = [0, 1, 2, 3].map((index) => bytes[index] ?? 0);
  const value = all.reduce((sum, byte) => sum * 256 + byte, 0);
  return {
    bits: 32,
    prefix,
    head: BigInt(value) >> BigInt(32 - prefix),
    text: `${all.join('.')}/${prefix}`,
  };
}

function v6(text: string, groups: readonly number[]): Network {
  const prefix = Number(text.slice(text.indexOf('/') + 1));
  let head = 0n;
  for (let index = 0; index < 8; index += 1) head = (head << 16n) | BigInt(groups[index] ?? 0);
  return { bits: 128, prefix, head: head >> BigInt(128 - prefix), text };
}

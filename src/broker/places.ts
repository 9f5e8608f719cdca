// Where an address that is not public leads, in words that a person can judge by.

import { networkContains, parseAddress, parseNetwork } from '../policy/addresses.js';

/** The first that contains the address says where it leads. */
const PLACES: readonly (readonly [network: string, place: string])[] = [
  ['127.0.0.0/8', 'this machine'],
  ['::1/128', 'this machine'],
  ['0.0.0.0/8', 'this machine'],
  ['::/128', 'this machine'],
  ['169.254.169.254/32', 'a cloud metadata service'],
  ['fd00:ec2::254/128', 'a cloud metadata service'],
  ['169.254.0.0/16', 'the local link'],
  ['fe80::/10', 'the local link'],
  ['10.0.0.0/8', 'a private network'],
  ['172.16.0.0/12', 'a private network'],
  ['192.168.0.0/16', 'a private network'],
  ['100.64.0.0/10', 'a private network'],
  ['fc00::/7', 'a private network'],
  ['224.0.0.0/4', 'a multicast group'],
  ['ff00::/8', 'a multicast group'],
];

export function placeOf(address: string): string {
  const parsed = parseAddress(address);
  const found = PLACES.find(([text]) => {
    const network = parseNetwork(text);
    return (
      parsed !== undefined && network.kind === 'network' && networkContains(network.network, parsed)
    );
  });
  return found?.[1] ?? 'not a public address';
}

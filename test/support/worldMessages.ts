// What a test and the agent inside its world tell each other (netns.ts ↔ netnsAgent.ts), and the world's map.

import type { Finished } from './sandbox.js';

/** Addresses that look public, private and special; all of them live on the world's own `lo` and nowhere else. */
export const ADDRESS = {
  /** HTTP, HTTPS, git, npm, pip and echo. */
  web: '93.184.216.34',
  web6: '2606:2800:220:1::34',
  /** The same servers under a second public address. */
  other: '93.184.216.36',
  /** Connections to port 80 hang: its queue is full and nobody accepts. */
  hole: '93.184.216.35',
  /** A host behind a route that says `unreachable`. */
  unreachable: '23.192.228.80',
  /** A name server that nobody configured; port 53, UDP and TCP. */
  foreignDns: '93.184.216.53',
  private: '10.20.30.40',
  metadata: '169.254.169.254',
} as const;

/** Ports on the world's loopback: services of "the host" that a sandbox must not reach unasked. */
export const HOST_PORT = { database: 15432, neighbour: 15433, six: 15434 } as const;

export type Family = 'A' | 'AAAA';

/** Addresses for the first, second … lookup of a name; the last entry repeats. */
export interface Answers {
  readonly A?: readonly (readonly string[])[];
  readonly AAAA?: readonly (readonly string[])[];
  /** Answer later by this much. */
  readonly delayMs?: number;
  readonly rcode?: 'NOERROR' | 'SERVFAIL' | 'REFUSED';
}

/** Everything the servers noticed, in the order in which it came. */
export interface Seen {
  /** `A web.example.com` */
  readonly queries: readonly string[];
  /** `web 93.184.216.34:443` */
  readonly connections: readonly string[];
  /** `GET web.example.com/hello` */
  readonly requests: readonly string[];
  /** `93.184.216.34:443 3 bytes` */
  readonly datagrams: readonly string[];
}

export type Command =
  | {
      readonly kind: 'start';
      readonly run: number;
      readonly argv: readonly string[];
      readonly cwd: string;
      readonly environment: Readonly<Record<string, string>>;
      readonly input: string;
      readonly timeoutMs: number;
    }
  | { readonly kind: 'zone'; readonly name: string; readonly answers: Answers }
  | { readonly kind: 'forget' | 'seen' };

/** To the agent. */
export interface Call {
  readonly id: number;
  readonly command: Command;
}

/** From the agent. */
export type Report =
  | { readonly kind: 'up' }
  | { readonly kind: 'started'; readonly id: number; readonly pid: number }
  | { readonly kind: 'done'; readonly id: number }
  | { readonly kind: 'seen'; readonly id: number; readonly seen: Seen }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }
  | { readonly kind: 'finished'; readonly run: number; readonly finished: Finished };

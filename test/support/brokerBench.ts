// A broker with everything around it made by hand: the clock stands, the prompter waits, the record is a list.

import type { AuditEntry, AuditLine } from '../../src/audit/schema.js';
import { CordonError } from '../../src/base/errors.js';
import { silentLog } from '../../src/base/log.js';
import type { Broker, BrokerOptions, RunHandle } from '../../src/broker/broker.js';
import { createBroker } from '../../src/broker/broker.js';
import type { BrokerRun } from '../../src/broker/requests.js';
import type { AddressDecision, RunPolicy } from '../../src/broker/runPolicy.js';
import type { Revocation } from '../../src/policy/grant.js';
import type { Decision, NetworkObject, Open, Wanted } from '../../src/policy/request.js';
import type { FakeClock } from './fakeClock.js';
import { createFakeClock } from './fakeClock.js';
import type { FakePrompter } from './fakePrompter.js';
import { createFakePrompter } from './fakePrompter.js';

export interface Bench {
  readonly broker: Broker;
  readonly clock: FakeClock;
  readonly prompter: FakePrompter;
  /** The record, without times and hashes. */
  readonly record: AuditEntry[];
  /** What each name resolves to; a name that is not there does not. */
  readonly names: Map<string, readonly string[]>;
  /** The names that were looked up, in order. */
  readonly lookups: string[];
  /** Rules that `always` wrote. */
  readonly written: string[];
  /** Set to make the record fail from now on. */
  broken: 'append' | 'flush' | undefined;
  /** Runs are added when they are first named. */
  run(id?: string): BenchRun;
  /** Asks for a connection by curl, or a look-up. */
  ask(object: NetworkObject, options?: AskOptions): Promise<Decision>;
  /** Asks for anything, by curl. */
  want(wanted: Wanted, options?: AskOptions): Promise<Decision>;
}

export interface BenchRun {
  readonly handle: RunHandle;
  readonly notices: string[];
  /** What was taken away. */
  readonly revoked: Revocation[];
  /** What was opened although it did not ask. */
  readonly opened: Open[];
}

export interface AskOptions {
  readonly run?: string;
  readonly signal?: AbortSignal;
  readonly because?: string | null;
}

/** Rules by target: what is not there is asked. Addresses by text: what is not there is public. */
export interface BenchPolicy {
  readonly targets?: Readonly<Record<string, 'allow' | 'deny'>>;
  readonly addresses?: Readonly<Record<string, 'allow' | 'deny' | 'ask'>>;
  /** The administrator keeps files out of answers that are wider than one call. */
  readonly isNarrow?: boolean;
}

export const ANSWER_MS = 60_000;
export const example = { host: 'example.com', port: 443 } as const;

export function createBench(
  policy: BenchPolicy = {},
  options: Partial<BrokerOptions> & { readonly session?: string } = {},
): Bench {
  const clock = createFakeClock();
  const prompter = createFakePrompter();
  const record: AuditEntry[] = [];
  const names = new Map([['example.com', ['192.0.2.1']]] as [string, readonly string[]][]);
  const lookups: string[] = [];
  const written: string[] = [];
  const runs = new Map<string, BenchRun>();
  let ids = 0;

  const broker = createBroker({
    prompter,
    words: {
      whereToAnswer: 'answer here',
      howToAllow: () => 'Allow it in the settings',
      home: '/home/ada',
    },
    audit: {
      append(entry): AuditLine {
        if (bench.broken === 'append') throw new CordonError('auditFailed', 'the disk is full');
        record.push(entry);
        return { t: '', ...entry, hash: '' };
      },
      flush: () =>
        bench.broken === 'flush'
          ? Promise.reject(new CordonError('auditFailed', 'the disk is broken'))
          : Promise.resolve(),
    },
    resolve: (host) => {
      lookups.push(host);
      const found = names.get(host);
      return found === undefined
        ? Promise.reject(new Error(`ENOTFOUND ${host}`))
        : Promise.resolve(found);
    },
    clock,
    createId: () => `id${(ids += 1)}`,
    log: silentLog,
    onAlways: ({ effect, setting, entry }) => {
      written.push(`${effect} ${entry} in ${setting}`);
      return Promise.resolve();
    },
    ...options,
  });

  const bench: Bench = {
    broker,
    clock,
    prompter,
    record,
    names,
    lookups,
    written,
    broken: undefined,
    run(id = 'r1') {
      const known = runs.get(id);
      if (known !== undefined) return known;
      const notices: string[] = [];
      const revoked: Revocation[] = [];
      const opened: Open[] = [];
      const run: BrokerRun = {
        id,
        session: options.session ?? 's1',
        command: ['sh', '-c', 'curl'],
        policy: policyOf(policy),
        answerMs: ANSWER_MS,
        notify: (text) => notices.push(text),
        open: (opens) => opened.push(...opens),
        revoke: (revocation) => revoked.push(revocation),
      };
      const added = { handle: broker.addRun(run), notices, revoked, opened };
      runs.set(id, added);
      return added;
    },
    ask: (object, options) =>
      bench.want(
        'port' in object ? { action: 'connect', object } : { action: 'lookup', object },
        options,
      ),
    want(wanted, { run = 'r1', signal, because = null } = {}) {
      const request = { run, subject: curl, because, ...wanted };
      return bench.run(run).handle.ask(request, signal ?? new AbortController().signal);
    },
  };
  return bench;
}

export const curl = {
  pid: 42,
  executable: '/usr/bin/curl',
  arguments: ['curl', 'https://example.com'],
  directory: '/ws',
  chain: [{ pid: 42, name: 'curl' }],
} as const;

function policyOf(policy: BenchPolicy): RunPolicy {
  const textOf = (wanted: Wanted): string => {
    const { object } = wanted;
    if ('address' in object) return object.address;
    return 'host' in object ? object.host : wanted.action;
  };
  return {
    describe: (_, rule) => `rule ${rule ?? 'mode'}`,
    mayWiden: ({ action }) => policy.isNarrow !== true || action === 'connect',
    decide(wanted) {
      const effect = policy.targets?.[textOf(wanted)];
      return effect === undefined
        ? { effect: 'ask', rule: 'network mode ask' }
        : { effect, rule: `${effect} ${textOf(wanted)}` };
    },
    decideAddress(address): AddressDecision {
      switch (policy.addresses?.[address]) {
        case 'deny':
          return { address, effect: 'deny', rule: `deny ${address}` };
        case 'ask':
          return { address, effect: 'ask', place: 'this machine' };
        case 'allow':
        case undefined:
          return { address, effect: 'allow' };
      }
    },
  };
}

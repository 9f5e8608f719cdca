// Puts policy, plan, launch, broker and audit together for one window or one command, and owns everything disposable.
// It must never decide: the policy, the broker and the person do.

import fs from 'node:fs';

import type { AuditLine } from '../audit/schema.js';
import { createAuditWriter, createLazyWriter } from '../audit/writer.js';
import type { Clock } from '../base/clock.js';
import { systemClock } from '../base/clock.js';
import { DisposableStore } from '../base/disposable.js';
import type { Event } from '../base/emitter.js';
import { Emitter } from '../base/emitter.js';
import { CordonError, userMessageOf } from '../base/errors.js';
import type { Log } from '../base/log.js';
import { silentLog } from '../base/log.js';
import { createBroker } from '../broker/broker.js';
import type { Answer, Prompter } from '../broker/prompter.js';
import { runPolicyOf } from '../broker/runPolicy.js';
import { findLauncher } from '../launch/artifacts.js';
import type { HelloFrame } from '../launch/control/schema.js';
import { createLauncherParser } from '../launch/control/schema.js';
import type { ControlServer } from '../launch/control/server.js';
import { createControlServer } from '../launch/control/server.js';
import { defaultFolders } from '../launch/folders.js';
import { spawnLauncher } from '../launch/linux.js';
import type { HostSupport } from '../launch/probe.js';
import { probeHost } from '../launch/probe.js';
import type { Run } from '../launch/run.js';
import type { Gap } from '../plan/plan.js';
import type { AbsolutePath } from '../policy/paths.js';
import type { PolicyResult } from '../policy/policy.js';
import type { AlwaysRule } from '../policy/grant.js';
import type { AccessRequest } from '../policy/request.js';
import { describeProblem } from '../settings/layers.js';
import { auditFolder } from './auditLog.js';
import { planForLauncher } from './hostPlan.js';
import { createRelayPrompter } from './relayPrompter.js';
import { joinLookups, resolveName } from './resolveName.js';
import { findRun } from './restore.js';
import { createRuns } from './runs.js';
import type { PlannedRun, SessionNotice } from './runs.js';
import type { RunSnapshot, SessionSnapshot } from './snapshot.js';
import { postureOf } from './snapshot.js';

/** The broker gives up a little before the launcher would, so that the reason is the broker's. */
const ANSWER_MARGIN_MS = 1000;
const ID_BYTES = 8;

/** What a launcher says before it gets its plan. */
export interface RunRequest {
  readonly directory: string;
  readonly arguments: readonly string[];
}

/** Words that only the face knows. */
export interface Wording {
  /** Ends the line on the run's terminal while a question waits: "click the bell in the status bar". No line without it. */
  readonly whereToAnswer?: string;
  /** What a person can do after a denial, as a whole phrase: "Allow it with --allow example.com:443". */
  readonly howToAllow: (request: AccessRequest) => string;
}

export type { AlwaysRule, SessionNotice };

export interface SessionOptions {
  /** Default: random. */
  readonly id?: string;
  /** The policy for a run; called for each one, so that it follows the settings. */
  readonly policyFor: (request: RunRequest) => PolicyResult;
  /** Launchers below these find this session by themselves; none registers nothing (CLI). */
  readonly roots: readonly AbsolutePath[];
  /** Without one, nobody is asked: what no rule and no grant allows is denied at once. */
  readonly prompter: Prompter | undefined;
  readonly wording: Wording;
  /** Default: dns.promises.lookup(host, { all: true, verbatim: true }). */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** What this host can enforce; default: the launcher is asked. */
  readonly probe?: (launcher: AbsolutePath, state: AbsolutePath) => HostSupport;
  /** For audit and caches: ~/.local/state/cordon. */
  readonly state: AbsolutePath;
  /** For the socket; default: found as native/PROTOCOL.md says. Used with `brokerLoss: 'wait'` only. */
  readonly runtime?: AbsolutePath;
  /** The folder with `native/`. */
  readonly dist: AbsolutePath;
  /** `end`: runs that this process starts, and that end with it. `wait`: runs that find this session, and outlive it. */
  readonly brokerLoss: 'end' | 'wait';
  /** `relay`: the launcher relays a terminal of its own and stands still while a question is asked. */
  readonly terminal?: 'inherit' | 'relay';
  /** Writes the user's settings. Without it `always` counts as `session`. */
  readonly onAlways?: (rule: AlwaysRule) => Promise<void>;
  /** What a person should see at once, besides questions. */
  readonly notices?: (notice: SessionNotice) => void;
  /** Every line of the audit, after it was written. */
  readonly events?: (line: AuditLine) => void;
  readonly clock?: Clock;
  readonly log?: Log;
}

export interface StartOptions {
  /** Default: this process's own. */
  readonly directory?: string;
  /** Default: this process's own; the plan filters it. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Default: `inherit`. */
  readonly stdio?: 'inherit' | 'ignore';
}

export interface Session {
  readonly id: string;
  /** The launcher's program; undefined when this build has none. */
  readonly launcher: AbsolutePath | undefined;
  /** What CORDON_BROKER can be set to; undefined with `brokerLoss: 'end'`. */
  readonly socket: AbsolutePath | undefined;
  /** One event for everything a face shows. */
  readonly onDidChange: Event<SessionSnapshot>;
  snapshot(): SessionSnapshot;
  /** False when the question is over; nothing happens then. */
  answer(questionId: string, answer: Answer): boolean;
  /** Ends a grant: later calls ask again, relayed connections to its target, its places and its port are closed. */
  revoke(grantId: string): void;
  /** Closes a published port; false when it is not open. */
  stopSharing(runId: string, port: number): boolean;
  /** Starts a command inside (CLI). The run ends with this process. */
  start(command: readonly string[], options?: StartOptions): Run;
  /** Ends a run by its id; false when it is not there. */
  stop(runId: string): boolean;
  /** The folders of the window have changed. */
  setRoots(roots: readonly AbsolutePath[]): void;
  /** The settings have changed: looks at the policy and the host again, for the posture. Runs keep their policy. */
  refresh(): void;
  /** Denies what waits, ends what this process started, leaves the others to the next broker. */
  close(): Promise<void>;
}

export type CreateSession = (options: SessionOptions) => Promise<Session>;

/** Rejects with a CordonError when there can be no record, or no safe place for the socket. */
export const createSession: CreateSession = async (options) => {
  const id = options.id ?? randomId();
  const clock = options.clock ?? systemClock;
  const log = options.log ?? silentLog;
  const { state, brokerLoss } = options;
  const isListening = brokerLoss === 'wait';
  const probe = options.probe ?? probeHost;
  const store = new DisposableStore();
  const changed = store.add(new Emitter<SessionSnapshot>());

  const tell = (line: AuditLine): void => {
    try {
      options.events?.(line);
    } catch (error) {
      log.error('a listener of the record failed', error); // what is recorded stays recorded
    }
  };
  const folder = auditFolder(state);
  const audit = store.add(
    createLazyWriter(() => createAuditWriter({ folder, session: id, clock, onLine: tell })),
  );
  // A command that is started here waits for nothing that can be done while its launcher starts.
  if (isListening) audit.open();
  const broker = createBroker({
    prompter:
      options.terminal === 'relay' && options.prompter !== undefined
        ? createRelayPrompter(options.prompter, (run) => runs.link(run))
        : options.prompter,
    words: { ...options.wording, home: homeFolder() },
    audit,
    resolve: joinLookups(options.resolve ?? resolveName, clock),
    clock,
    createId: randomId,
    log,
    ...(options.onAlways === undefined ? {} : { onAlways: options.onAlways }),
  });

  const plan = (run: string, hello: HelloFrame): PlannedRun => {
    const result = options.policyFor({ directory: hello.directory, arguments: hello.arguments });
    if (result.kind === 'refused') {
      return { kind: 'refused', code: 'settingsInvalid', message: refusalOf(result) };
    }
    const { policy } = result;
    const support = probe(findLauncher(options.dist), state);
    const terminal = options.terminal === 'relay' && hello.terminal ? 'relay' : 'inherit';
    const shared = {
      run,
      directory: hello.directory,
      state,
      support,
      brokerLoss,
      terminal,
    } as const;
    const answerMs = policy.approvals.timeoutMs.value;
    return {
      kind: 'planned',
      ...planForLauncher(policy, shared, hello.pid),
      policy: runPolicyOf(policy),
      answerMs: answerMs - Math.min(ANSWER_MARGIN_MS, answerMs / 10),
    };
  };
  const runs = createRuns({
    session: id,
    audit,
    broker,
    parse: createLauncherParser(),
    clock,
    log,
    createId: randomId,
    plan: (run, hello) => Promise.resolve().then(() => plan(run, hello)),
    find: (run) => findRun(folder, run),
    home: homeFolder(),
    onNotice: (notice) => {
      options.notices?.(notice);
    },
    onDidChange: () => {
      fireChanged();
    },
  });

  let host: { readonly problem?: string; readonly gaps: readonly Gap[] } = { gaps: [] };
  const snapshot = (): SessionSnapshot => {
    const all = runs.snapshot();
    const gaps = distinctGaps([...host.gaps, ...all.filter(isLiving).flatMap((run) => run.gaps)]);
    return {
      runs: all,
      pending: broker.questions(),
      grants: broker.grants(),
      ports: runs.ports(),
      posture: postureOf(host.problem, gaps),
      gaps,
      ...(host.problem === undefined ? {} : { problem: host.problem }),
    };
  };
  const fireChanged = (): void => {
    changed.fire(snapshot());
  };
  store.add(broker.onDidChange(fireChanged));

  let roots = options.roots;
  const refresh = (): void => {
    host = inspectHost(options, roots);
    fireChanged();
  };

  let server: ControlServer | undefined;
  if (isListening) {
    try {
      server = store.add(
        await createControlServer({
          runtime: options.runtime ?? defaultFolders(process.env).runtime,
          name: randomId(),
          onConnection: (socket) => {
            runs.accept(socket);
          },
        }),
      );
      if (roots.length > 0) server.register(roots);
    } catch (error) {
      store.dispose();
      throw error;
    }
    refresh();
  }

  const launcher = orUndefined(() => findLauncher(options.dist));
  let closing: Promise<void> | undefined;
  return {
    id,
    launcher,
    socket: server?.socket,
    onDidChange: changed.event,
    snapshot,
    answer: (questionId, answer) => broker.answer(questionId, answer),
    revoke(grantId) {
      broker.revoke(grantId);
    },
    stopSharing: (runId, port) => runs.stopSharing(runId, port),
    start(command, startOptions = {}) {
      const run = runs.adopt(command, startOptions.directory ?? process.cwd(), () => {
        const program = findLauncher(options.dist);
        probe(program, state); // throws when this is not the launcher of this build
        return spawnLauncher(program, command, startOptions);
      });
      try {
        audit.open();
      } catch (error) {
        log.error('no record', error); // the launcher is refused for it, and says so
      }
      return run;
    },
    stop: (runId) => runs.stop(runId),
    setRoots(next) {
      roots = next;
      server?.register(next);
    },
    refresh,
    close() {
      closing ??= (async () => {
        broker.close(); // before the runs: what waits is recorded as cancelled, and is not answered any more
        await runs.close();
        store.dispose();
      })();
      return closing;
    },
  };
};

/** Whether something can be run here now, as far as it can be known before. */
function inspectHost(
  options: SessionOptions,
  roots: readonly AbsolutePath[],
): { readonly problem?: string; readonly gaps: readonly Gap[] } {
  try {
    const support = (options.probe ?? probeHost)(findLauncher(options.dist), options.state);
    if (support.problem !== null) return { problem: support.problem, gaps: support.gaps };
    const result = options.policyFor({ directory: roots[0] ?? '/', arguments: [] });
    if (result.kind === 'refused') return { problem: refusalOf(result), gaps: support.gaps };
    return { gaps: support.gaps };
  } catch (error) {
    return { problem: userMessageOf(error), gaps: [] };
  }
}

function refusalOf(result: PolicyResult): string {
  const errors = result.problems
    .filter(({ severity }) => severity === 'error')
    .map(describeProblem);
  return new CordonError('settingsInvalid', errors.join('; ')).userMessage;
}

function isLiving({ state }: RunSnapshot): boolean {
  return state !== 'exited' && state !== 'failed';
}

function distinctGaps(gaps: readonly Gap[]): readonly Gap[] {
  return [...new Map(gaps.map((gap) => [`${gap.promise}\n${gap.reason}`, gap])).values()];
}

function orUndefined<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof CordonError) return undefined; // the posture says what is wrong
    throw error;
  }
}

/** Only for words: what a path begins with to be told as `~`. */
function homeFolder(): string {
  return process.env['HOME'] ?? '';
}

/** From the kernel, without node:crypto, which takes a few milliseconds to load. */
function randomId(): string {
  const source = fs.openSync('/dev/urandom', 'r');
  try {
    const bytes = Buffer.alloc(ID_BYTES);
    fs.readSync(source, bytes);
    return bytes.toString('hex');
  } finally {
    fs.closeSync(source);
  }
}

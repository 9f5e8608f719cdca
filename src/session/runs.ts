// The runs of one session: admits each launcher that says hello, follows its run to the end, records both.

import { redactArguments, redactSubject, redactWanted } from '../audit/redact.js';
import type { AuditEntry } from '../audit/schema.js';
import type { AuditWriter } from '../audit/writer.js';
import type { Clock } from '../base/clock.js';
import { DisposableStore } from '../base/disposable.js';
import { userMessageOf } from '../base/errors.js';
import type { Log } from '../base/log.js';
import type { Broker, RunHandle } from '../broker/broker.js';
import { opensOf } from '../broker/actions.js';
import { holds } from '../broker/grants.js';
import type { RunPolicy } from '../broker/runPolicy.js';
import { busyLine, openFailedLine } from '../broker/words.js';
import type { ChannelEnd } from '../launch/control/channel.js';
import type { Admission, AdmittedRun, Link } from '../launch/control/link.js';
import type { ParseFrame } from '../launch/control/json.js';
import { createLink } from '../launch/control/link.js';
import type { HelloFrame, LauncherFrame, UnpublishedFrame } from '../launch/control/schema.js';
import type { SpawnedLauncher } from '../launch/linux.js';
import type { RunExit, TrackedRun } from '../launch/run.js';
import { childStatus, trackRun } from '../launch/run.js';
import type { Gap, LinuxPlan } from '../plan/plan.js';
import type { Grant, Open } from '../policy/grant.js';
import type { KnownRun } from './restore.js';
import type { PublishedPort, RunSnapshot } from './snapshot.js';

/** A connection that says nothing for this long is not a launcher. */
const HELLO_MS = 10_000;
/** After `stop`, the launcher's own 2 s for the command and some for itself. */
const STOP_MS = 5_000;
/** The last frames of a launcher that has ended are in the socket already. */
const LAST_FRAMES_MS = 1_000;
/** Runs that are over stay in the snapshot, so that a face can say how they ended. */
const MAX_OVER = 50;

export type PlannedRun =
  | {
      readonly kind: 'planned';
      readonly plan: LinuxPlan;
      readonly gaps: readonly Gap[];
      readonly policy: RunPolicy;
      /** Less than the launcher's own limit. */
      readonly answerMs: number;
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** What happened to a run that a person should see at once. */
export type SessionNotice =
  | ({ readonly kind: 'published' } & PublishedPort)
  | ({ readonly kind: 'unpublished'; readonly reason: UnpublishedFrame['reason'] } & Omit<
      PublishedPort,
      'address'
    >)
  /** Taken back; `busy`: programs still hold files of it, or have their working directory there. */
  | {
      readonly kind: 'revoked';
      readonly run: string;
      readonly opens: readonly (Open & { readonly busy: boolean })[];
    }
  /** Allowed, but it could not be opened. */
  | ({ readonly kind: 'openFailed'; readonly run: string; readonly error: string } & Open);

export interface RunsOptions {
  readonly session: string;
  readonly audit: AuditWriter;
  readonly broker: Broker;
  readonly parse: ParseFrame<LauncherFrame>;
  readonly clock: Clock;
  readonly log: Log;
  readonly createId: () => string;
  /** Policy and facts, for a run that begins or comes back. */
  readonly plan: (run: string, hello: HelloFrame) => Promise<PlannedRun>;
  /** What the record says of a run that comes back. */
  readonly find: (run: string) => KnownRun | undefined;
  /** Which paths are told relative to. */
  readonly home: string;
  readonly onNotice: (notice: SessionNotice) => void;
  readonly onDidChange: () => void;
}

export interface Runs {
  /** A launcher that came by the socket. */
  accept(socket: Socket): void;
  /** A launcher that was started here; `child` is undefined when that failed. */
  adopt(command: readonly string[], directory: string, spawn: () => SpawnedLauncher): TrackedRun;
  stop(runId: string): boolean;
  /** Closes a published port; false when it is not open. */
  stopSharing(runId: string, port: number): boolean;
  ports(): readonly PublishedPort[];
  link(runId: string): Link | undefined;
  snapshot(): readonly RunSnapshot[];
  /** Ends what was started here and lets go of the rest. */
  close(): Promise<void>;
}

type ChildProcess = SpawnedLauncher['child'];
type Socket = SpawnedLauncher['socket'];

interface RunRecord {
  readonly tracked: TrackedRun;
  readonly directory: string;
  readonly command: readonly string[];
  readonly startedAt: number;
  readonly isOurs: boolean;
  pid: number;
  gaps: readonly Gap[];
  link: Link | undefined;
  handle: RunHandle | undefined;
  /** By their number inside. */
  readonly ports: Map<number, PublishedPort>;
  /** The `run` line is written, so an `exit` line belongs to it. */
  isRecorded: boolean;
}

export function createRuns(options: RunsOptions): Runs {
  const { audit, broker, clock, log } = options;
  const records = new Map<string, RunRecord>();
  const strangers = new Set<Link>();
  let closed = false;
  const isClosed = (): boolean => closed; // asked again after each wait

  const add = (
    id: string,
    about: Pick<RunRecord, 'directory' | 'command' | 'isOurs' | 'pid'>,
    child?: () => ChildProcess | undefined,
  ): RunRecord => {
    const timers = new DisposableStore();
    const kill = (): void => {
      child?.()?.kill('SIGKILL');
    };
    const record: RunRecord = {
      ...about,
      tracked: trackRun(id, {
        stop: (reason) => {
          record.link?.stop(reason);
          if (!about.isOurs) return;
          if (record.handle === undefined) child?.()?.kill('SIGTERM'); // it has no plan and no command yet
          timers.add(clock.after(STOP_MS, kill));
        },
        signal: (name) => {
          child?.()?.kill(name);
        },
        onDidChange: () => {
          if (record.tracked.state.kind === 'over') timers.dispose();
          options.onDidChange();
        },
      }),
      startedAt: clock.now(),
      gaps: [],
      link: undefined,
      handle: undefined,
      ports: new Map(),
      isRecorded: false,
    };
    records.set(id, record);
    forgetOldest();
    void record.tracked.exited.then((exit) => {
      finish(record, exit);
    });
    return record;
  };

  const forgetOldest = (): void => {
    const over = [...records.values()].filter(({ tracked }) => tracked.state.kind === 'over');
    for (const record of over.slice(0, Math.max(0, over.length - MAX_OVER))) {
      if (records.get(record.tracked.id) === record) records.delete(record.tracked.id);
    }
  };

  const finish = (record: RunRecord, exit: RunExit): void => {
    record.handle?.dispose();
    record.ports.clear();
    if (record.isRecorded) {
      recordLate({
        kind: 'exit',
        run: record.tracked.id,
        outcome: exit.kind,
        exitCode: exit.kind === 'lost' ? null : exit.exitCode,
        reason: reasonOf(exit),
      });
    }
    options.onDidChange();
  };

  const admit = async (hello: HelloFrame, link: Link, ours?: RunRecord): Promise<Admission> => {
    if (isClosed()) return refused('sessionClosed', 'the session has ended');
    if (hello.run !== null && ours === undefined) return readmit(hello.run, hello, link);
    const id = ours?.tracked.id ?? options.createId();
    const planned = await options.plan(id, hello);
    if (isClosed()) return refused('sessionClosed', 'the session has ended');
    if (planned.kind === 'refused') return planned;
    const record =
      ours ??
      add(id, {
        directory: hello.directory,
        command: hello.arguments,
        isOurs: false,
        pid: hello.pid,
      });
    begin(record, hello, options.session, [], planned);
    return {
      kind: 'plan',
      plan: planned.plan,
      run: attach(record, link, options.session, planned),
    };
  };

  /** A supervisor whose broker went away: it keeps its plan, and the grants that the record knows. */
  const readmit = async (id: string, hello: HelloFrame, link: Link): Promise<Admission> => {
    const known = options.find(id);
    if (known?.pid !== hello.pid) {
      return refused('unknownRun', 'no record knows this run; what it asks will be denied');
    }
    const living = records.get(id);
    if (living !== undefined && living.tracked.state.kind !== 'over') {
      return refused('unknownRun', 'this run is connected already');
    }
    for (const problem of known.problems)
      log.warn(`grants of run ${id} are not restored: ${problem}`);
    const planned = await options.plan(id, hello);
    if (isClosed()) return refused('sessionClosed', 'the session has ended');
    if (planned.kind === 'refused') return planned;
    const record = add(id, {
      directory: hello.directory,
      command: hello.arguments,
      isOurs: false,
      pid: hello.pid,
    });
    begin(record, hello, known.session, known.grants, planned);
    broker.restore(known.grants);
    record.tracked.step({ kind: 'ready' });
    const holder = { id, session: known.session };
    const opens = known.grants
      .filter((grant) => holds(grant, holder))
      .flatMap(({ target }) => opensOf(target));
    return { kind: 'welcome', opens, run: attach(record, link, known.session, planned) };
  };

  /** Recorded before anything runs; a run that cannot be recorded is refused by the throw. */
  const begin = (
    record: RunRecord,
    hello: HelloFrame,
    session: string,
    grants: readonly Grant[],
    planned: PlannedRun & { readonly kind: 'planned' },
  ): void => {
    const run = record.tracked.id;
    // First the grants: were this cut short, the older record would still be the newest that knows the run.
    try {
      for (const grant of grants) audit.append({ kind: 'grant', run, grant });
      audit.append({
        kind: 'run',
        run,
        session,
        again: hello.run !== null,
        pid: hello.pid,
        directory: hello.directory,
        command: redactArguments(hello.arguments),
      });
      record.isRecorded = true;
      addGaps(record, planned.gaps);
    } catch (error) {
      // A launcher of ours is still there to end with this refusal.
      if (!record.isOurs) {
        record.tracked.step({ kind: 'gone', message: userMessageOf(error), isLost: false });
      }
      throw error;
    }
  };

  /** What has happened already is not undone because it cannot be recorded; whoever reads the log learns of it. */
  const recordLate = (entry: AuditEntry): void => {
    try {
      audit.append(entry);
    } catch (error) {
      log.error(`not recorded: ${entry.kind}`, error);
    }
  };

  const addGaps = (record: RunRecord, gaps: readonly Gap[]): void => {
    record.gaps = [...record.gaps, ...gaps];
    for (const { promise, reason } of gaps) {
      recordLate({ kind: 'gap', run: record.tracked.id, promise, reason });
    }
  };

  const attach = (
    record: RunRecord,
    link: Link,
    session: string,
    planned: PlannedRun & { readonly kind: 'planned' },
  ): AdmittedRun => {
    const run = record.tracked.id;
    const handle = broker.addRun({
      id: run,
      session,
      command: record.command,
      policy: planned.policy,
      answerMs: planned.answerMs,
      notify: (text) => {
        link.notify(text);
      },
      open: (opens) => {
        link.grant(opens);
      },
      revoke: (revocation) => {
        link.revoke(revocation);
      },
    });
    record.link = link;
    record.handle = handle;
    const { state } = record.tracked;
    if (state.kind === 'stopping') link.stop(state.reason); // asked for while the plan was made
    return {
      id: run,
      ready(frame) {
        addGaps(record, frame.gaps);
        record.tracked.step({ kind: 'ready' });
      },
      ask: (request, signal) => handle.ask(request, signal),
      denied(frame) {
        recordLate({
          kind: 'denial',
          run,
          subject: redactSubject(frame.subject),
          reason: frame.reason,
          rule: planned.policy.describe(frame, frame.rule),
          ...redactWanted(frame),
        });
      },
      opened({ opens }) {
        recordLate({ kind: 'opened', run, opens });
        for (const open of opens) {
          if (open.error !== null) sayOpenFailed(run, link, open, open.error);
        }
      },
      revoked({ opens }) {
        if (opens.length === 0) return; // nothing had to be closed for a welcome
        recordLate({ kind: 'revoked', run, opens });
        for (const open of opens) {
          if (open.busy) link.notify(busyLine(open, options.home));
        }
        options.onNotice({ kind: 'revoked', run, opens });
      },
      published({ port, hostPort, address }) {
        const published = { run, port, hostPort, address };
        record.ports.set(port, published);
        recordLate({ kind: 'published', ...published });
        options.onNotice({ kind: 'published', ...published });
        options.onDidChange();
      },
      unpublished({ port, reason }) {
        recordLate({ kind: 'unpublished', run, port, reason });
        const published = record.ports.get(port);
        if (published === undefined) return;
        record.ports.delete(port);
        options.onNotice({
          kind: 'unpublished',
          run,
          port,
          hostPort: published.hostPort,
          reason,
        });
        options.onDidChange();
      },
      exit(status) {
        record.tracked.step({ kind: 'exit', status });
      },
      failed({ message, stage }) {
        record.tracked.step({
          kind: 'error',
          message: stage === '' ? message : `${message} (${stage})`,
        });
      },
      closed(end) {
        record.link = undefined;
        handle.dispose();
        if (!record.isOurs)
          record.tracked.step({ kind: 'gone', message: endInWords(end), isLost: true });
      },
    };
  };

  const sayOpenFailed = (run: string, link: Link, { access, path }: Open, error: string): void => {
    link.notify(openFailedLine({ access, path }, error, options.home));
    options.onNotice({ kind: 'openFailed', run, access, path, error });
  };

  const accept = (socket: Socket): void => {
    let isIntroduced = false;
    const link = createLink(socket, {
      parse: options.parse,
      admit: (hello, self) => {
        isIntroduced = true;
        return admit(hello, self);
      },
    });
    strangers.add(link);
    const timer = clock.after(HELLO_MS, () => {
      if (!isIntroduced) link.dispose();
    });
    void link.closed.then((end) => {
      timer.dispose();
      strangers.delete(link);
      if (end.kind === 'broken') log.warn(`a launcher broke the protocol: ${end.message}`);
    });
  };

  const adopt = (
    command: readonly string[],
    directory: string,
    spawn: () => SpawnedLauncher,
  ): TrackedRun => {
    let child: ChildProcess | undefined;
    const record = add(
      options.createId(),
      { directory, command, isOurs: true, pid: 0 },
      () => child,
    );
    try {
      const spawned = spawn();
      child = spawned.child;
      record.pid = child.pid ?? 0;
      follow(record, spawned);
    } catch (error) {
      record.tracked.step({ kind: 'gone', message: userMessageOf(error), isLost: false });
    }
    return record.tracked;
  };

  const follow = (record: RunRecord, { child, socket }: SpawnedLauncher): void => {
    const link = createLink(socket, {
      parse: options.parse,
      admit: async (hello, self) => {
        let admission: Admission;
        try {
          admission = await admit(hello, self, record);
        } catch (error) {
          admission = refused('refused', userMessageOf(error));
        }
        if (admission.kind === 'refused') {
          record.tracked.step({ kind: 'error', message: admission.message });
        }
        return admission;
      },
    });
    child.once('error', (error) => {
      link.dispose();
      record.tracked.step({
        kind: 'gone',
        message: `the launcher could not be started: ${error.message}`,
        isLost: false,
      });
    });
    child.once('exit', (code, signal) => {
      const end = (): void => {
        timer.dispose();
        link.dispose();
        record.tracked.step({ kind: 'ended', status: childStatus(code, signal) });
      };
      const timer = clock.after(LAST_FRAMES_MS, end);
      void link.closed.then(end);
    });
    void link.closed.then((end) => {
      if (end.kind !== 'broken') return;
      record.tracked.step({
        kind: 'error',
        message: `the launcher broke the protocol: ${end.message}`,
      });
      child.kill('SIGTERM');
    });
  };

  return {
    accept,
    adopt,
    link: (runId) => records.get(runId)?.link,
    stop(runId) {
      const record = records.get(runId);
      if (record === undefined || record.tracked.state.kind === 'over') return false;
      void record.tracked.stop('user');
      return true;
    },
    stopSharing(runId, port) {
      const record = records.get(runId);
      if (record?.link === undefined || !record.ports.has(port)) return false;
      record.link.revoke({ connections: [], opens: [], ports: [port] });
      return true;
    },
    ports: () => [...records.values()].flatMap(({ ports }) => [...ports.values()]),
    snapshot: () => [...records.values()].map(snapshotOf),
    async close() {
      closed = true;
      const ours = [...records.values()].filter(({ isOurs }) => isOurs);
      const ended = ours.map(({ tracked }) => tracked.stop('sessionClosed'));
      for (const link of [...strangers]) link.dispose();
      await Promise.all([...ended, ...[...records.values()].map(({ tracked }) => tracked.exited)]);
    },
  };
}

function snapshotOf(record: RunRecord): RunSnapshot {
  const { tracked, pid, command, directory, startedAt, gaps } = record;
  const shared = { id: tracked.id, pid, command, directory, startedAt, gaps };
  const { state } = tracked;
  if (state.kind !== 'over') return { ...shared, state: state.kind };
  const isExit = state.exit.kind === 'exited' || state.exit.kind === 'stopped';
  return { ...shared, state: isExit ? 'exited' : 'failed', exit: state.exit };
}

function refused(code: string, message: string): Admission {
  return { kind: 'refused', code, message };
}

function reasonOf(exit: RunExit): string | null {
  switch (exit.kind) {
    case 'exited':
      return null;
    case 'stopped':
      return exit.reason;
    case 'failed':
    case 'lost':
      return exit.message;
  }
}

function endInWords(end: ChannelEnd): string {
  switch (end.kind) {
    case 'closed':
      return 'the session has ended';
    case 'ended':
      return 'the connection to the run is gone';
    case 'broken':
      return `the connection to the run broke: ${end.message}`;
  }
}

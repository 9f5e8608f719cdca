// The conversation with one launcher, from its `hello` to the end of its connection. It knows the order of frames and
// nothing about policy: whoever admits the run answers. When the connection ends, every open ask is aborted first, and
// then `closed` is called, once.

import type { Socket } from 'node:net';

import { assertNever } from '../../base/assertNever.js';
import { createDeferred } from '../../base/deferred.js';
import type { Deferred } from '../../base/deferred.js';
import type { Disposable } from '../../base/disposable.js';
import { userMessageOf } from '../../base/errors.js';
import type { LinuxPlan } from '../../plan/plan.js';
import type { Revocation } from '../../policy/grant.js';
import type { AccessRequest, Decision, Open } from '../../policy/request.js';
import { createChannel } from './channel.js';
import type { ChannelEnd } from './channel.js';
import type { ParseFrame } from './json.js';
import type {
  AskFrame,
  BrokerFrame,
  DenialFrame,
  HelloFrame,
  LauncherErrorFrame,
  LauncherFrame,
  OpenedFrame,
  PublishedFrame,
  ReadyFrame,
  RevokedFrame,
  RunStatus,
  UnpublishedFrame,
} from './schema.js';

/** Asks that may be open at once; the launcher keeps to fewer. */
const MAX_ASKS = 4096;

export type Admission =
  | { readonly kind: 'plan'; readonly plan: LinuxPlan; readonly run: AdmittedRun }
  /** A run that carries on, with what stays open besides its plan's own. */
  | { readonly kind: 'welcome'; readonly opens: readonly Open[]; readonly run: AdmittedRun }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** What happens to a run, for whoever admitted it. */
export interface AdmittedRun {
  readonly id: string;
  ready(frame: ReadyFrame): void;
  /** Never rejects. When the signal aborts, nobody wants the answer any more. */
  ask(request: AccessRequest, signal: AbortSignal): Promise<Decision>;
  denied(frame: DenialFrame): void;
  opened(frame: OpenedFrame): void;
  revoked(frame: RevokedFrame): void;
  published(frame: PublishedFrame): void;
  unpublished(frame: UnpublishedFrame): void;
  exit(status: RunStatus): void;
  failed(frame: LauncherErrorFrame): void;
  closed(end: ChannelEnd): void;
}

export interface Link extends Disposable {
  notify(text: string): void;
  /** Opens what was allowed in another run. */
  grant(opens: readonly Open[]): void;
  revoke(revocation: Revocation): void;
  stop(reason: 'user' | 'sessionClosed' | 'brokerLost' | 'limit' | 'internal'): void;
  /** Settles when the run's terminal relay stands still, or the connection is gone. */
  hold(): Promise<void>;
  resume(): void;
  /** Settles when the connection is gone. */
  readonly closed: Promise<ChannelEnd>;
  /** Leaves the launcher alone: nothing that is still open is answered. */
  dispose(): void;
}

export interface LinkOptions {
  readonly parse: ParseFrame<LauncherFrame>;
  /** Called once, for the `hello`. A rejection refuses the run. */
  readonly admit: (hello: HelloFrame, link: Link) => Promise<Admission>;
}

type Stage =
  | { readonly kind: 'greeting' | 'admitting' | 'over' }
  | { readonly kind: 'open'; readonly run: AdmittedRun };

/** Takes the socket over. */
export function createLink(socket: Socket, options: LinkOptions): Link {
  const asks = new Map<number, AbortController>();
  let stage: Stage = { kind: 'greeting' };
  let holding: Deferred<undefined> | undefined;

  const channel = createChannel<LauncherFrame, BrokerFrame>(socket, {
    parse: options.parse,
    complain: (message) => ({ kind: 'error', code: 'protocol', message }),
    receive: (frame) => {
      receive(frame);
    },
  });

  const receive = (frame: LauncherFrame): void => {
    if (stage.kind === 'greeting' && frame.kind === 'hello') {
      stage = { kind: 'admitting' };
      void admit(frame);
      return;
    }
    if (stage.kind !== 'open') {
      if (frame.kind === 'error') return; // its reason is in the end of the connection
      throw new Error(`${frame.kind} before the plan`);
    }
    receiveFromRun(stage.run, frame);
  };

  const receiveFromRun = (run: AdmittedRun, frame: LauncherFrame): void => {
    switch (frame.kind) {
      case 'hello':
        throw new Error('a second hello');
      case 'ready':
        run.ready(frame);
        break;
      case 'ask':
        if (asks.has(frame.id)) throw new Error(`ask ${frame.id} twice`);
        if (asks.size >= MAX_ASKS) throw new Error('too many open asks');
        void answer(run, frame);
        break;
      case 'withdraw':
        asks.get(frame.id)?.abort();
        asks.delete(frame.id);
        break;
      case 'denial':
        run.denied(frame);
        break;
      case 'opened':
        run.opened(frame);
        break;
      case 'revoked':
        run.revoked(frame);
        break;
      case 'published':
        run.published(frame);
        break;
      case 'unpublished':
        run.unpublished(frame);
        break;
      case 'held':
        holding?.resolve(undefined);
        break;
      case 'exit':
        run.exit(frame.status);
        break;
      case 'error':
        run.failed(frame);
        break;
      default:
        assertNever(frame);
    }
  };

  const admit = async (hello: HelloFrame): Promise<void> => {
    let admission: Admission;
    try {
      admission = await options.admit(hello, link);
    } catch (error) {
      admission = { kind: 'refused', code: 'refused', message: userMessageOf(error) };
    }
    if (stage.kind !== 'admitting') {
      // The launcher left meanwhile: whoever admitted it must hear of the end all the same.
      if (admission.kind !== 'refused') admission.run.closed({ kind: 'ended' });
      return;
    }
    if (admission.kind === 'refused') {
      refuse(admission.code, admission.message);
      return;
    }
    stage = { kind: 'open', run: admission.run };
    try {
      channel.send(
        admission.kind === 'plan'
          ? { kind: 'plan', ...admission.plan }
          : { kind: 'welcome', opens: admission.opens },
      );
    } catch (error) {
      const message = userMessageOf(error); // larger than a frame may be
      admission.run.failed({
        kind: 'error',
        code: 'planTooLarge',
        stage: 'plan',
        message,
        errno: 0,
      });
      refuse('planTooLarge', message);
    }
  };

  const refuse = (code: string, message: string): void => {
    channel.send({ kind: 'error', code, message });
    channel.dispose();
  };

  const answer = async (run: AdmittedRun, frame: AskFrame): Promise<void> => {
    const controller = new AbortController();
    asks.set(frame.id, controller);
    const { subject, because, action, object } = frame;
    // Action and object stay the pair that they were in the frame.
    const request = { run: run.id, subject, because, action, object } as AccessRequest;
    const decision = await run.ask(request, controller.signal);
    if (!asks.delete(frame.id)) return; // withdrawn, or the connection is gone
    channel.send({
      kind: 'answer',
      id: frame.id,
      effect: decision.effect,
      reason: decision.reason,
      addresses: decision.addresses,
      opens: decision.opens,
      message: decision.message ?? null,
    });
  };

  const finish = (end: ChannelEnd): void => {
    const { kind } = stage;
    const run = stage.kind === 'open' ? stage.run : undefined;
    stage = { kind: 'over' };
    if (kind === 'over') return;
    const open = [...asks.values()];
    asks.clear(); // before anyone is told: a callback may call back in
    holding?.resolve(undefined);
    for (const controller of open) controller.abort();
    run?.closed(end);
  };

  const link: Link = {
    closed: channel.closed,
    notify(text) {
      channel.send({ kind: 'notice', text });
    },
    grant(opens) {
      channel.send({ kind: 'grant', opens });
    },
    revoke(revocation) {
      channel.send({ kind: 'revoke', ...revocation });
    },
    stop(reason) {
      channel.send({ kind: 'stop', reason });
    },
    async hold() {
      holding ??= createDeferred<undefined>();
      if (!channel.send({ kind: 'hold' })) return;
      await holding.promise;
    },
    resume() {
      holding = undefined;
      channel.send({ kind: 'resume' });
    },
    dispose() {
      finish({ kind: 'closed' });
      channel.dispose();
    },
  };
  void channel.closed.then(finish);
  return link;
}

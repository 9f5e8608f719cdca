// A session in a folder of its own, with a policy from settings as written, and launchers played by the test.

import fs from 'node:fs';
import path from 'node:path';

import type { AuditLine } from '../../src/audit/schema.js';
import type { HostSupport } from '../../src/launch/probe.js';
import type { AbsolutePath } from '../../src/policy/paths.js';
import type { PolicyResult } from '../../src/policy/policy.js';
import { parseLayerValue, resolveLayers } from '../../src/session/layers.js';
import type { Session, SessionOptions } from '../../src/session/session.js';
import { createSession } from '../../src/session/session.js';
import type { FakeLauncher } from './fakeLauncher.js';
import { createFakeLauncher } from './fakeLauncher.js';
import type { FakePrompter } from './fakePrompter.js';
import { createFakePrompter } from './fakePrompter.js';
import { createTempTree } from './tempTree.js';

export interface SessionBench {
  readonly session: Session;
  readonly prompter: FakePrompter;
  readonly lines: readonly AuditLine[];
  /** Connects a launcher; nothing is said yet. */
  connect(): FakeLauncher;
  /** Connects a launcher, says hello and takes the plan. */
  launch(
    about?: Parameters<FakeLauncher['hello']>[0],
  ): Promise<{ launcher: FakeLauncher; run: string }>;
}

/** What outlives a session. */
export interface Place {
  readonly root: AbsolutePath;
  readonly workspace: AbsolutePath;
  readonly state: AbsolutePath;
  readonly runtime: AbsolutePath;
  readonly dist: AbsolutePath;
}

export const support: HostSupport = {
  protocol: 1,
  version: 'test',
  problem: null,
  overlay: false,
  gaps: [],
  landlock: 7,
  features: {},
};

export function createPlace(t: { after(call: () => void): void }): Place {
  const root = createTempTree(t);
  const at = (name: string): AbsolutePath => path.join(root, name) as AbsolutePath;
  for (const name of ['workspace', 'state', 'home']) fs.mkdirSync(at(name), { mode: 0o700 });
  const launcher = path.join(
    at('dist'),
    'native',
    `${process.platform}-${process.arch}`,
    'cordon-launch',
  );
  fs.mkdirSync(path.dirname(launcher), { recursive: true });
  fs.writeFileSync(launcher, '', { mode: 0o755 }); // found, never started
  return {
    root,
    workspace: at('workspace'),
    state: at('state'),
    runtime: at('runtime'),
    dist: at('dist'),
  };
}

export function policyOf(place: Place, settings: object): PolicyResult {
  const layer = parseLayerValue({ kind: 'user', file: '/home/ada/settings.json' }, settings);
  return resolveLayers([layer], {
    home: path.join(place.root, 'home') as AbsolutePath,
    uid: process.getuid?.() ?? 0,
    roots: [place.workspace],
    state: place.state,
    own: [],
  });
}

export async function openSession(
  t: { after(call: () => Promise<void>): void },
  place: Place,
  options: Partial<SessionOptions> & { readonly settings?: object } = {},
): Promise<SessionBench> {
  const { settings = { network: { mode: 'ask' } }, ...rest } = options;
  const prompter = createFakePrompter();
  const lines: AuditLine[] = [];
  const launchers: FakeLauncher[] = [];
  const session = await createSession({
    policyFor: () => policyOf(place, settings),
    roots: [place.workspace],
    prompter,
    wording: { whereToAnswer: 'answer here', howToAllow: () => 'Allow it in the settings' },
    resolve: () => Promise.resolve(['192.0.2.1']),
    probe: () => support,
    state: place.state,
    runtime: place.runtime,
    dist: place.dist,
    brokerLoss: 'wait',
    events: (line) => lines.push(line),
    ...rest,
  });
  t.after(async () => {
    for (const launcher of launchers) launcher.close();
    await session.close();
  });
  const connect = (): FakeLauncher => {
    const launcher = createFakeLauncher(session.socket ?? '');
    launchers.push(launcher);
    return launcher;
  };
  return {
    session,
    prompter,
    lines,
    connect,
    async launch(about) {
      const launcher = connect();
      launcher.hello({ directory: place.workspace, ...about });
      const { run } = await launcher.nextOf('plan');
      launcher.send({ kind: 'ready', run, init: process.pid, gaps: [] });
      return { launcher, run };
    },
  };
}

/** Waits for the next change of the session after which this holds. */
export async function until(session: Session, holds: () => boolean): Promise<void> {
  if (holds()) return;
  await new Promise<void>((resolve) => {
    const listener = session.onDidChange(() => {
      if (!holds()) return;
      listener.dispose();
      resolve();
    });
  });
}

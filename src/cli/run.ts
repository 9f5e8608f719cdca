// `cordon run` and `cordon shell`: one session, one command, this terminal. It must never write to standard output, which
// belongs to the command, and never outlive it.

import os from 'node:os';
import { isatty } from 'node:tty';
import { createSession } from '../session/session.js';
import { findFolders, installation, resolveBoundary, usablePolicy } from './boundary.js';
import { openEvents } from './events.js';
import { say } from './messages.js';
import { hasRawBytes } from './paths.js';
import { UsageError } from './usage.js';
import { howToAllow } from './wording.js';
import type { RunFlags } from './options.js';
import type { Disposable } from '../base/disposable.js';
import type { Prompter } from '../broker/prompter.js';
import type { Run } from '../launch/run.js';
import type { AbsolutePath } from '../policy/paths.js';
import type { AlwaysRule } from '../session/session.js';

export async function run(flags: RunFlags, command: readonly string[]): Promise<number> {
  checkCommand(command);
  if (flags.ask === 'editor') return runInEditor(flags, command);
  const folders = findFolders(process.env);
  const { policy } = resolveBoundary(flags, folders);
  usablePolicy(policy);
  const ask = await askMode(flags.ask);
  const events = flags.events === undefined ? undefined : openEvents(flags.events);
  const memory = createMemory(folders.settingsFile);
  const session = await createSession({
    policyFor: () => policy,
    roots: [],
    prompter: ask === 'tty' ? await terminalPrompter() : undefined,
    terminal: ask === 'tty' ? 'relay' : 'inherit',
    wording: { howToAllow },
    state: folders.state,
    dist: installation(),
    brokerLoss: 'end',
    onAlways: memory.add,
    ...(events === undefined ? {} : { events: events.write }),
  });
  const started = session.start(command);
  const signals = passSignalsOn(started);
  try {
    const exit = await started.exited;
    if (exit.kind === 'failed' && !exit.shown) say(exit.message);
    return exit.exitCode;
  } finally {
    await session.close();
    await memory.written();
    signals.dispose();
    events?.dispose();
  }
}

async function terminalPrompter(): Promise<Prompter> {
  const [{ createTerminalPrompter }, { openTerminal }] = await Promise.all([
    import('./prompter.js'),
    import('./terminal.js'),
  ]);
  return createTerminalPrompter(openTerminal);
}

interface Memory {
  readonly add: (rule: AlwaysRule) => Promise<void>;
  /** Settles when everything was written, or could not be. */
  readonly written: () => Promise<void>;
}

/** Writes one rule after the other: each reads the file that the one before it has written. */
function createMemory(file: AbsolutePath): Memory {
  let last: Promise<void> = Promise.resolve();
  return {
    add(rule) {
      const next = last.then(async () => (await import('./remember.js')).remember(file, rule));
      last = next.catch(() => undefined); // whoever asked hears of it
      return next;
    },
    written: () => last,
  };
}

export function shell(flags: RunFlags, args: readonly string[]): Promise<number> {
  const named = process.env['SHELL'];
  const program = named?.startsWith('/') === true ? named : (os.userInfo().shell ?? '/bin/sh');
  return run(flags, [program, ...args]);
}

function checkCommand([program, ...args]: readonly string[]): void {
  if (program === undefined || program === '') throw new UsageError('the command is empty');
  if (![program, ...args].some(hasRawBytes)) return;
  throw new UsageError(
    'an argument of the command holds bytes that are not UTF-8, which this version cannot pass on unchanged; nothing was started',
  );
}

/** The whole run belongs to the window then: what its settings say cannot be changed from here. */
async function runInEditor(flags: RunFlags, command: readonly string[]): Promise<number> {
  const others = Object.keys(flags).filter(
    (name) => name !== 'ask' && name !== 'read' && name !== 'engine',
  );
  if (others.length > 0) {
    const names = others.map((name) => `--${name}`).join(', ');
    throw new UsageError(
      `--ask editor takes the settings of the editor’s window, so it cannot be combined with ${names}`,
    );
  }
  const started = (await import('../session/underWindow.js')).runUnderWindow(
    installation(),
    command,
  );
  const signals = passSignalsOn(started);
  try {
    return await started.exited;
  } finally {
    signals.dispose();
  }
}

async function askMode(flag: 'deny' | 'tty' | undefined): Promise<'deny' | 'tty'> {
  if (flag === 'deny') return 'deny';
  if (flag === undefined && !isatty(0)) return 'deny';
  if ((await import('./terminal.js')).hasTerminal()) return 'tty';
  if (flag === 'tty') say('there is no terminal to ask on, so what no rule allows is denied');
  return 'deny';
}

/**
 * Ctrl-C and Ctrl-\\ are sent by the terminal to the command as well: it decides what they mean, and this process stays to
 * report the result. Signals sent to this process alone are passed on; without a terminal, all are.
 */
function passSignalsOn(started: Pick<Run, 'signal'>): Disposable {
  const pass = (signal: NodeJS.Signals): void => {
    started.signal(signal);
  };
  const passUnlessTyped = (signal: NodeJS.Signals): void => {
    void import('./terminal.js').then(({ hasTerminal }) => {
      if (!hasTerminal()) pass(signal);
    });
  };
  const handlers = {
    SIGINT: passUnlessTyped,
    SIGQUIT: passUnlessTyped,
    SIGTERM: pass,
    SIGHUP: pass,
  };
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler);
  return {
    dispose: () => {
      for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler);
    },
  };
}

// A real terminal around a command, by tmux: types keys as a person does and reads the screen.

import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Place } from './sandbox.js';

export interface Screen {
  /** Types text as it is. */
  type(text: string): void;
  /** Presses keys by tmux's names: `Enter`, `C-c`, `C-z`, `Escape`. */
  press(...keys: readonly string[]): void;
  /** What can be seen, without trailing spaces. */
  text(): string;
  /** Settles when the screen matches; rejects with what is on it after `withinMs`. */
  shows(pattern: RegExp, withinMs?: number): Promise<string>;
  resize(columns: number, rows: number): void;
}

/** A bash at its prompt in the workspace; ends with the place. */
export function openScreen(
  place: Place,
  environment: Readonly<Record<string, string>> = {},
): Screen {
  const tmux = (...args: readonly string[]): string => {
    const result = spawnSync('tmux', ['-S', `${place.folder}/tmux`, '-f', '/dev/null', ...args], {
      cwd: place.workspace,
      env: { ...place.environment, ...environment, TERM: 'xterm-256color' },
      encoding: 'utf8',
    });
    if (result.status !== 0) throw new Error(`tmux ${args.join(' ')}: ${result.stderr}`);
    return result.stdout;
  };
  tmux('new-session', '-d', '-x', '100', '-y', '30', 'bash --noprofile --norc');
  place.atEnd(() => {
    spawnSync('tmux', ['-S', `${place.folder}/tmux`, 'kill-server'], { env: place.environment });
  });
  const text = (): string =>
    tmux('capture-pane', '-p')
      .replace(/[ \t]+$/gm, '')
      .trimEnd();
  return {
    type: (keys) => tmux('send-keys', '-l', keys),
    press: (...keys) => tmux('send-keys', ...keys),
    text,
    async shows(pattern, withinMs = 10_000) {
      const until = Date.now() + withinMs;
      for (;;) {
        const now = text();
        if (pattern.test(now)) return now;
        if (Date.now() > until)
          throw new Error(`the screen never showed ${String(pattern)}:\n${now}`);
        await sleep(30);
      }
    },
    resize: (columns, rows) => tmux('resize-window', '-x', String(columns), '-y', String(rows)),
  };
}

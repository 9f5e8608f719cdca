// Measures by a program that runs inside, so that the launch is not in it: native, bwrap and the launcher in turn.

import { run } from './command.js';
import type { Command } from './command.js';
import { medians, type Row } from './rows.js';

/** Where it is measured: a workspace, and how a command gets into each boundary around it. */
export interface Boundaries {
  readonly workspace: string;
  readonly bwrap: (command: Command) => Command;
  readonly launcher: (command: Command) => Command;
}

/** `command` is given its row's label and prints that and microseconds, one line for each measurement. */
export async function measureInside(
  { workspace, bwrap, launcher }: Boundaries,
  command: (label: string) => Command,
  rounds: number,
  /** On the host, before each: what may not be removed inside. */
  tidy: () => void = () => undefined,
): Promise<readonly Row[]> {
  const rows: readonly (readonly [string, (inner: Command) => Command])[] = [
    ['native', (inner) => inner],
    ['bwrap', bwrap],
    ['launcher', launcher],
  ];
  let output = '';
  for (let round = 0; round < rounds; round += 1) {
    for (const [label, enter] of rows) {
      tidy();
      output += await run(enter(command(label)), workspace);
    }
  }
  return medians(
    output,
    rows.map(([label]) => label),
  );
}

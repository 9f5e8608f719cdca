// Commands that are measured, and how they are run.

import { spawn } from 'node:child_process';

export type Command = readonly string[];

/** Standard output of a command that must succeed. */
export function run([program = '', ...args]: Command, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('error', reject);
    child.once('close', (status) => {
      if (status === 0) resolve(output);
      else reject(new Error(`${[program, ...args].join(' ')}: status ${status ?? 'none'}`));
    });
  });
}

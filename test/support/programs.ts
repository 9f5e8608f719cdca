// The client programs of test/fixtures/programs, compiled. Sources are handed over by path, outputs go to a folder of the test.

import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SOURCES = path.resolve(import.meta.dirname, '../fixtures/programs');

/** Path of a program that needs no compiler: `fetch.mjs`, `reach.py` … */
export function script(name: string): string {
  return path.join(SOURCES, name);
}

const COMPILERS = {
  sockets: (out) => ['gcc', '-O1', '-pthread', '-o', out, script('sockets.c')],
  'sockets-musl': (out) => ['musl-gcc', '-static', '-O1', '-o', out, script('sockets.c')],
  // netgo: Go's own resolver, in a static program
  httpget: (out) => ['go', 'build', '-tags', 'netgo', '-o', out, script('httpget.go')],
  'HttpGet.class': (out) => ['javac', '-d', path.dirname(out), script('HttpGet.java')],
  tcpget: (out) => ['/usr/bin/rustc', '-o', out, script('tcpget.rs')],
} satisfies Record<string, (out: string) => readonly [string, ...string[]]>;

export type Program = keyof typeof COMPILERS;

/** Compiles into `folder`; returns where a program lies. Go uses the user's own build cache. */
export async function buildPrograms(
  folder: string,
  programs: readonly Program[],
): Promise<(program: Program) => string> {
  await mkdir(folder, { recursive: true });
  const at = (program: Program) => path.join(folder, program);
  await Promise.all(
    programs.map(async (program) => {
      const [compiler, ...words] = COMPILERS[program](at(program));
      await run(compiler, words, {
        env: { ...process.env, CGO_ENABLED: '0', GO111MODULE: 'off', GOFLAGS: '' },
      });
    }),
  );
  return at;
}

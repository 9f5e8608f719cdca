// `cordon explain`: what may be done with a path or a host, and the rule that says so. Looks nothing up on the network.

import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { bytesToText, textToBytes } from '../base/bytes.js';
import { plainText } from '../base/plainText.js';
import { explainFile } from '../session/hostPlan.js';
import { describeProblem, explainHost } from '../session/layers.js';
import { findFolders, resolveBoundary } from './boundary.js';
import { EXIT_CORDON_FAILED, quoted, say } from './messages.js';
import { UsageError } from './usage.js';
import type { AbsolutePath } from '../policy/paths.js';
import type { BoundaryFlags } from './options.js';
import type { Explanation } from '../policy/explain.js';
import type { Policy } from '../policy/policy.js';

export function explain(flags: BoundaryFlags, subject: string): number {
  const folders = findFolders(process.env);
  const { policy: result, directory } = resolveBoundary(flags, folders);
  for (const problem of result.problems) say(describeProblem(problem));
  if (result.kind === 'refused') return EXIT_CORDON_FAILED;
  const explanations =
    (isPath(subject) ? undefined : explainName(result.policy, subject)) ??
    explainPlace(result.policy, subject, { ...folders, directory });
  process.stdout.write(explanations.map(inWords).join(''));
  return 0;
}

/** A path looks like one, or is there. */
function isPath(subject: string): boolean {
  return /^(?:\/|~|\.\.?(?:\/|$))/.test(subject) || existsSync(textToBytes(subject));
}

/** A host; undefined for what can only be a path. */
function explainName(policy: Policy, subject: string): readonly Explanation[] | undefined {
  const explanation = explainHost(policy, subject);
  if (explanation !== undefined) return [explanation];
  if (subject.includes('/')) return undefined;
  throw new UsageError(
    `${quoted(subject)} is neither a host, HOST:PORT or an address, nor a file here; write ./${plainText(subject, 200)} for a path`,
  );
}

interface Place {
  readonly directory: AbsolutePath;
  readonly home: AbsolutePath;
  readonly state: AbsolutePath;
}

function explainPlace(
  policy: Policy,
  subject: string,
  { directory, home, state }: Place,
): readonly Explanation[] {
  const written = subject.replace(/^~(?=\/|$)/, () => home);
  const real = realPlace(path.resolve(directory, written));
  const run = { run: 'preview', directory, state, brokerLoss: 'end', terminal: 'inherit' } as const;
  const { read, write } = explainFile(policy, run, real);
  return [read, write];
}

/** Where a path leads: links are followed as far as it exists. */
function realPlace(file: string): AbsolutePath {
  const bytes = textToBytes(file);
  if (existsSync(bytes)) {
    return bytesToText(realpathSync.native(bytes, { encoding: 'buffer' })) as AbsolutePath;
  }
  const parent = path.dirname(file);
  return path.join(
    parent === file ? parent : realPlace(parent),
    path.basename(file),
  ) as AbsolutePath;
}

function inWords({ decision, because }: Explanation): string {
  return `${plainText(decision, LONGEST)}\n  ${plainText(because, LONGEST)}\n`;
}

const LONGEST = 10_000;

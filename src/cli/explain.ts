// `cordon explain`: what may be done with a path or a host, and the rule that says so. Looks nothing up on the network.

import { existsSync, lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { bytesToText, textToBytes } from '../base/bytes.js';
import { plainText } from '../base/plainText.js';
import { describeProblem, explainHost, explainPath } from '../session/layers.js';
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
  const explanations = isPath(subject)
    ? explainFile(result.policy, subject, { directory, home: folders.home })
    : explainName(result.policy, subject);
  process.stdout.write(explanations.map(inWords).join(''));
  return 0;
}

/** A path looks like one, or is there; everything else is a host. */
function isPath(subject: string): boolean {
  return /^(?:\/|~|\.\.?(?:\/|$))/.test(subject) || existsSync(textToBytes(subject));
}

function explainName(policy: Policy, subject: string): readonly Explanation[] {
  const explanation = explainHost(policy, subject);
  if (explanation !== undefined) return [explanation];
  throw new UsageError(
    `${quoted(subject)} is neither a host, HOST:PORT or an address, nor a file here; write ./${plainText(subject, 200)} for a path`,
  );
}

interface Place {
  readonly directory: AbsolutePath;
  readonly home: AbsolutePath;
}

function explainFile(
  policy: Policy,
  subject: string,
  { directory, home }: Place,
): readonly Explanation[] {
  const written = subject.replace(/^~(?=\/|$)/, () => home);
  const real = realPlace(path.resolve(directory, written));
  const { read, write } = explainPath(policy, real);
  return [read, write];
}

/** Where a path leads: links are followed as far as it exists. */
function realPlace(file: string): AbsolutePath {
  const bytes = textToBytes(file);
  if (lstatSync(bytes, { throwIfNoEntry: false }) !== undefined && existsSync(bytes)) {
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

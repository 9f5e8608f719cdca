// `cordon doctor`: what this system can enforce, proven by a run that tries to break out. Exit 0 only when it could not.

import { plainText } from '../base/plainText.js';
import { runSelfTest } from '../session/selfTest.js';
import { postureOf } from '../session/snapshot.js';
import {
  findFolders,
  installation,
  previewPlan,
  resolveBoundary,
  usablePolicy,
} from './boundary.js';
import type { Folders } from './boundary.js';
import type { SelfTestReport } from '../session/selfTest.js';

export async function doctor(flags: { readonly json?: true }): Promise<number> {
  const folders = findFolders(process.env);
  const dist = installation();
  const tested = await runSelfTest({ home: folders.home, state: folders.state, dist });
  const report = tested.problem === undefined ? withGapsHere(tested, folders) : tested;
  process.stdout.write(
    flags.json === true ? `${JSON.stringify(reportForPrograms(report))}\n` : reportInWords(report),
  );
  return report.posture === 'not enforcing' ? 1 : 0;
}

/** What the system keeps is one thing; what a run in this folder would leave open is another. */
function withGapsHere(report: SelfTestReport, folders: Folders): SelfTestReport {
  const { policy: result, directory } = resolveBoundary({}, folders);
  const { gaps } = previewPlan(usablePolicy(result), directory, folders);
  return { ...report, gaps, posture: postureOf(undefined, gaps) };
}

function reportForPrograms(report: SelfTestReport): unknown {
  return {
    posture: report.posture,
    problem: report.problem ?? null,
    gaps: report.gaps,
    attempts: report.attempts.map(({ aim, outcome, error }) => ({
      name: aim,
      refused: outcome === 'refused',
      outcome,
      error: error ?? null,
    })),
  };
}

export function reportInWords({ posture, problem, gaps, attempts }: SelfTestReport): string {
  const head = [
    `Cordon on this machine: ${posture}`,
    ...(problem === undefined ? [] : [`${problem}.`]),
  ];
  const tried = attempts.map(
    ({ aim, outcome, error }) =>
      `  ${aim.padEnd(14)}  ${outcome}${error === undefined || outcome === 'succeeded' ? '' : ` (${error})`}`,
  );
  const missing = gaps.map(({ promise, reason }) => `  ${promise}: ${plainText(reason, LONGEST)}`);
  const sections = [
    head,
    tried.length === 0 ? [] : ['A program inside the boundary tried to', ...tried],
    missing.length > 0
      ? ['What a run in this folder leaves open', ...missing]
      : problem === undefined
        ? ['No gaps.']
        : [],
  ];
  const text = sections.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
  return `${text.join('\n\n')}\n`;
}

const LONGEST = 300;

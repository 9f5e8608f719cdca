// `cordon doctor`: what this system can enforce, proven by a run that tries to break out. Exit 0 only when it could not.

import { runSelfTest } from '../session/selfTest.js';
import { findFolders, installation } from './boundary.js';
import type { SelfTestReport } from '../session/selfTest.js';

export async function doctor(flags: { readonly json?: true }): Promise<number> {
  const { home, state } = findFolders(process.env);
  const report = await runSelfTest({
    home,
    state,
    dist: installation(),
  });
  process.stdout.write(
    flags.json === true ? `${JSON.stringify(reportForPrograms(report))}\n` : reportInWords(report),
  );
  return report.posture === 'not enforcing' ? 1 : 0;
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
  const missing = gaps.map(({ promise, reason }) => `  ${promise}: ${reason}`);
  const sections = [
    head,
    tried.length === 0 ? [] : ['A program inside the boundary tried to', ...tried],
    missing.length > 0
      ? ['What this system cannot keep', ...missing]
      : problem === undefined
        ? ['No gaps: every promise of SECURITY.md holds here.']
        : [],
  ];
  const text = sections.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
  return `${text.join('\n\n')}\n`;
}

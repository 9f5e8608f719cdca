// The doctor's report for this window: what is enforced, proven by a run that tries to break out, and under which settings.

import * as vscode from 'vscode';

import { plainText } from '../base/plainText.js';
import type { SelfTestReport } from '../session/selfTest.js';
import type { SessionSnapshot } from '../session/snapshot.js';
import type { Problem } from '../settings/layers.js';
import { problemText } from './problems.js';

export interface DoctorFacts {
  readonly snapshot: SessionSnapshot;
  /** Not there on a system where nothing can be started. */
  readonly selfTest: SelfTestReport | undefined;
  readonly problems: readonly Problem[];
  readonly roots: readonly string[];
  readonly launcher: string | undefined;
  readonly version: string;
}

export function doctorReport(facts: DoctorFacts): string {
  const { snapshot, selfTest } = facts;
  const problem = snapshot.problem ?? selfTest?.problem;
  const section = (title: string, lines: readonly string[], none: string): readonly string[] => [
    '',
    title,
    ...(lines.length === 0 ? [none] : lines).map((line) => `  ${line}`),
  ];
  return [
    `Cordon ${facts.version}: ${snapshot.posture}`,
    ...(problem === undefined ? [] : [problem]),
    ...section(
      'A program inside the boundary tried to',
      (selfTest?.attempts ?? []).map(
        ({ aim, outcome, error }) =>
          `${aim}: ${outcome}${error === undefined || error === '' ? '' : ` (${error})`}`,
      ),
      'nothing could be started',
    ),
    ...section(
      'Gaps (promises that this system cannot keep)',
      snapshot.gaps.map(({ promise, reason }) => `${promise}: ${reason}`),
      'none',
    ),
    ...section('Problems in the settings', facts.problems.map(problemText), 'none'),
    ...section(
      'Folders that sandboxed terminals write to',
      facts.roots,
      'none: open a folder first',
    ),
    ...section(
      'Runs',
      snapshot.runs.map(
        ({ id, pid, state, command }) => `${id}  ${state}, process ${pid}: ${commandLine(command)}`,
      ),
      'none',
    ),
    ...section(
      'System',
      [
        `${process.platform} ${process.arch}, VS Code ${vscode.version}${remoteText()}`,
        `launcher: ${facts.launcher ?? 'none'}`,
      ],
      '',
    ),
    '',
  ].join('\n');
}

function remoteText(): string {
  return vscode.env.remoteName === undefined
    ? ''
    : `, remote ${plainText(vscode.env.remoteName, 60)}`;
}

function commandLine(command: readonly string[]): string {
  return plainText(command.join(' '), 120);
}

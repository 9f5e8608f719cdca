// What was allowed, and which ports are open, as the rows of a list. Text only: grantsView.ts shows them.

import os from 'node:os';

import type { Access, Grant, GrantScope, GrantTarget } from '../policy/grant.js';
import type { PublishedPort, SessionSnapshot } from '../session/snapshot.js';
import { targetText } from '../session/words.js';
import { commandText, editorText } from './text.js';

export interface GrantRow {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  /** Of VS Code's own. */
  readonly icon: string;
  /** The row for those who hear it: everything, without having to open anything. */
  readonly spoken: string;
  /** Not there for a port that was opened without one, once or by the settings. */
  readonly grant: Grant | undefined;
  /** The port that is open now. */
  readonly port: PublishedPort | undefined;
}

const LABEL_LENGTH = 160;

type Time = (milliseconds: number) => string;

const SCOPES: Readonly<Record<GrantScope, string>> = {
  once: 'once',
  run: 'this terminal',
  session: 'this session',
  always: 'always',
};

const ENDS: Readonly<Record<GrantScope, string>> = {
  once: 'with that call',
  run: 'when its terminal closes',
  session: 'when this window closes',
  always: 'when you revoke it; it stands in your user settings',
};

const ICONS: Readonly<Record<Access, string>> = {
  write: 'edit',
  read: 'eye',
  git: 'source-control',
  socket: 'plug',
};

/** Oldest first; a port that is open stands with the grant it was opened by. */
export function grantRows(
  { grants, ports }: Pick<SessionSnapshot, 'grants' | 'ports'>,
  time: Time,
): readonly GrantRow[] {
  const rows = grants.map((grant) => grantRow(grant, portOf(grant, ports), time));
  const shown = new Set(rows.map(({ port }) => port));
  return [...rows, ...ports.filter((port) => !shown.has(port)).map(portRow)];
}

function portOf(
  { target, run }: Grant,
  ports: readonly PublishedPort[],
): PublishedPort | undefined {
  if (!('publish' in target)) return undefined;
  return ports.find(
    (port) => port.port === target.publish && (run === undefined || port.run === run),
  );
}

function grantRow(grant: Grant, port: PublishedPort | undefined, time: Time): GrantRow {
  const { scope, origin, target } = grant;
  const label = labelOf(target);
  const since = `since ${time(grant.at)}`;
  const facts = [
    `Asked by ${editorText(origin.program, 50)}, in the terminal that runs ${commandText(origin.command)}`,
    `Ends ${ENDS[scope]}`,
    ...(port === undefined ? [] : [openAt(port)]),
  ];
  return {
    id: grant.id,
    label,
    description: [...(port === undefined ? [] : ['open now']), SCOPES[scope], since].join(' · '),
    tooltip: [label, `${SCOPES[scope]}, ${since}`, ...facts].join('\n'),
    icon: iconOf(target),
    spoken: [`${label}, allowed for ${SCOPES[scope]}, ${since}`, ...facts].join('. '),
    grant,
    port,
  };
}

/** Opened without a grant: by an answer for just that listener, or by the settings. */
function portRow(port: PublishedPort): GrantRow {
  const target = { publish: port.port };
  const label = labelOf(target);
  const facts = [openAt(port), 'Ends when no program listens on it any more'];
  return {
    id: `port ${port.run} ${port.port}`,
    label,
    description: 'open now',
    tooltip: [label, ...facts].join('\n'),
    icon: iconOf(target),
    spoken: [`${label}, open now`, ...facts].join('. '),
    grant: undefined,
    port,
  };
}

/** "Write to ~/elsewhere": as a question says it. */
function labelOf(target: GrantTarget): string {
  const text = editorText(targetText(target, os.homedir()), LABEL_LENGTH);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function openAt(port: PublishedPort): string {
  return `Open now at ${addressText(port)}`;
}

/** Where the port is reached on this machine. */
export function addressText({ hostPort }: Pick<PublishedPort, 'hostPort'>): string {
  return `http://localhost:${hostPort}`;
}

function iconOf(target: GrantTarget): string {
  if ('access' in target) return ICONS[target.access];
  if ('agent' in target) return 'key';
  return 'publish' in target ? 'radio-tower' : 'globe';
}

// A plan in words, for `cordon plan`: everything that is in it, each rule with where it comes from.

import { assertNever } from '../base/assertNever.js';
import { plainText } from '../base/plainText.js';
import { describeOrigin } from '../policy/origin.js';
import type { Policy } from '../policy/policy.js';
import type { Gap, LinuxPlan, Mount, PlannedRule, PlannedSocketRule, PortRange } from './plan.js';

/** Several lines, ending with one. */
export function renderPlan(plan: LinuxPlan, gaps: readonly Gap[], policy: Policy): string {
  return [
    `Working directory: ${shown(plan.directory)}`,
    '',
    'Files (later lines win)',
    '  /  read-only',
    ...plan.mounts.map((mount) => `  ${shown(mount.path)}  ${mountWords(mount)}`),
    ...filesLines(plan, policy),
    '',
    'Unix sockets of this machine (the first line that matches; others are asked)',
    ...plan.sockets.agents.map(
      ({ kind, path }) => `  ${shown(path)}  ${kind}-agent, each signature asks`,
    ),
    ...plan.sockets.rules.map(socketLine(policy)),
    '',
    `Network: ${modeWords[plan.network.mode]} (${describeOrigin(policy.network.mode.origin)})`,
    ...plan.network.rules.map((rule, index) => ruleLine(rule, index, policy)),
    ...plan.network.hostPorts.map((port) => `  port ${port} of this machine is let in`),
    `  servers inside: ${listenWords[plan.publish.mode]} (${describeOrigin(policy.network.listen.origin)})`,
    ...policy.network.publish.map(
      ({ value, origin }) =>
        `  port ${value} inside is reached from this machine (${describeOrigin(origin)})`,
    ),
    '',
    'Environment',
    `  dropped: ${plan.environment.drop.join(' ')}`,
    `  kept all the same: ${plan.environment.keep.join(' ') || 'none'}`,
    ...plan.environment.set.map(
      ({ name, value, overwrite }) =>
        `  ${name}=${shown(value)}${overwrite ? '' : ' unless it is set'}`,
    ),
    '',
    `A question waits ${seconds(plan.limits.answerMs)} for its answer, and ${seconds(plan.limits.brokerMs)} for a new window when its own is gone.`,
    plan.brokerLoss === 'end'
      ? 'The run ends with its session.'
      : 'The run goes on without its session.',
    '',
    ...(gaps.length === 0
      ? ['No gaps.']
      : ['Gaps', ...gaps.map(({ promise, reason }) => `  ${promise}: ${shown(reason)}`)]),
    '',
  ].join('\n');
}

/** What the supervisor judges, besides mounts. */
function filesLines({ files, opens }: LinuxPlan, { filesystem }: Policy): readonly string[] {
  const names = filesystem.protectedNames.map(({ value }) => value);
  return [
    `  changes elsewhere are asked, but for ${files.quiet.join(' ')}, which are refused`,
    `  git repositories: changes are ${gitWords[files.git]} (${describeOrigin(filesystem.git.origin)})`,
    ...files.repositories.map(({ directory }) => `    also ${shown(directory)}`),
    `  protected in each root and repository, but not below ${files.packages.join(' ')}: ${shown(names.join(' '))}`,
    `  protected besides: ${shown(files.protected.join(' '))}`,
    ...opens.map(
      ({ access, path }) => `  open all the same: ${shown(path)}, ${accessWords[access]}`,
    ),
  ];
}

function socketLine({ sockets }: Policy) {
  return ({ effect, path }: PlannedSocketRule, index: number): string => {
    const origin = sockets.rules[index]?.origin;
    const from = origin === undefined ? '' : ` (${describeOrigin(origin)})`;
    return `  ${shown(path)}  ${effectWords[effect]}${from}`;
  };
}

const gitWords = { protect: 'refused', ask: 'asked once', allow: 'allowed' } as const;

const accessWords = {
  write: 'for writing',
  read: 'for reading',
  git: 'for git',
  socket: 'for connecting',
} as const;

const listenWords = {
  private: 'stay inside',
  ask: 'reached from this machine after a question',
} as const;

const modeWords = {
  off: 'refused, unless a rule allows it',
  ask: 'asked, unless a rule decides',
  on: 'allowed, unless a rule decides',
} as const;

const effectWords = { allow: 'allowed', deny: 'denied', ask: 'asked' } as const;

function mountWords(mount: Mount): string {
  switch (mount.op) {
    case 'private':
      return 'empty, private to this run';
    case 'writable':
      return 'writable';
    case 'pin':
      return 'cannot be renamed';
    case 'protect':
    case 'readable':
      return 'read-only';
    case 'guard':
      return 'protected; read-only where nothing can be asked';
    case 'tripwire':
      return mount.names ? 'reading asks; names are seen' : 'reading asks; names are hidden';
    case 'mask':
      return 'hidden';
    case 'copyOnWrite':
      return `changes go to ${shown(mount.upper)}`;
    default:
      return assertNever(mount);
  }
}

function ruleLine(rule: PlannedRule, index: number, policy: Policy): string {
  const target = 'host' in rule ? rule.host : rule.network;
  const origin = policy.network.rules[index]?.origin;
  const from = origin === undefined ? '' : ` (${describeOrigin(origin)})`;
  return `  ${index + 1}. ${target}${portWords(rule.ports)} ${effectWords[rule.effect]}${from}`;
}

function portWords([from, to]: PortRange): string {
  if (from === 1 && to === 65535) return '';
  return from === to ? `, port ${from},` : `, ports ${from}-${to},`;
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1000)} s`;
}

/** Paths may hold anything: a newline in one must not make another line of ours. */
function shown(text: string): string {
  return plainText(text, 4096);
}

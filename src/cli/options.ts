// The flags of `cordon`, in one table for all subcommands. A value that this version cannot enforce is refused here,
// never ignored.

import { InvalidArgumentError, Option } from 'commander';
import { UsageError } from './usage.js';
import type { Command } from 'commander';
import type { GitMode, NetworkMode, ReadMode } from '../policy/policy.js';

/** Flags that shape the boundary: run, shell, explain and plan take them alike. */
export interface BoundaryFlags {
  readonly root?: string;
  readonly write?: readonly string[];
  readonly read?: ReadMode;
  readonly git?: GitMode;
  readonly network?: NetworkMode;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly policy?: string;
}

export type AskMode = 'deny' | 'tty' | 'editor';

/** Flags of a command that really starts something. */
export interface RunFlags extends BoundaryFlags {
  readonly ask?: AskMode;
  readonly events?: string;
}

export function addBoundaryOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--root <dir>',
        'workspace: writable, its .cordon.json is heard (default: the working directory)',
      ),
    )
    .addOption(list('--write <dir>', 'another writable folder (repeatable)'))
    .addOption(
      new Option(
        '--read <what>',
        'what is read without a question: anywhere, except for secrets, or roots',
      ).argParser(read),
    )
    .addOption(
      new Option('--git <how>', 'changes to git repositories: ask, allow or protect').argParser(
        git,
      ),
    )
    .addOption(
      new Option('--network <mode>', 'off, ask or on, for hosts that no rule names').argParser(
        network,
      ),
    )
    .addOption(
      list(
        '--allow <host[:port]>',
        'a host, *.host, network or localhost:port that may be reached (repeatable)',
      ),
    )
    .addOption(list('--deny <host[:port]>', 'one that may not (repeatable)'))
    .addOption(
      new Option('--engine <name>', 'what enforces the boundary: namespaces').argParser(
        only('--engine', ['namespaces'], {
          bubblewrap: 'the engine bubblewrap',
          landlock: 'the engine landlock',
        }),
      ),
    )
    .addOption(
      new Option('--limit <name=value>', 'limits cannot be enforced yet')
        .argParser(refuseLimit)
        .hideHelp(),
    )
    .addOption(
      new Option('--policy <file>', 'settings for this call, in the form of .cordon.json'),
    );
}

export function addRunOptions(command: Command): Command {
  return addBoundaryOptions(command)
    .addOption(
      new Option(
        '--ask <how>',
        'who answers: deny, tty, or editor, the window that has this folder open, under its settings (default: tty on a terminal, else deny)',
      ).argParser(ask),
    )
    .addOption(
      new Option('--events <file>', 'append requests, answers and the exit as JSON lines'),
    );
}

/** Flags of `cordon request`: what will be needed, and why. */
export function addRequestOptions(command: Command): Command {
  return command
    .addOption(list('--read <path>', 'a closed file or folder to read (repeatable)'))
    .addOption(list('--write <path>', 'a file or folder to write to (repeatable)'))
    .addOption(list('--git <folder>', 'a git directory to update (repeatable)'))
    .addOption(list('--socket <path>', 'a unix socket to connect to (repeatable)'))
    .addOption(list('--host <host:port>', 'a host to reach (repeatable)'))
    .addOption(list('--publish <port>', 'a port inside to open on this machine (repeatable)'))
    .addOption(
      new Option('--because <reason>', 'why, in words for a person').makeOptionMandatory(),
    );
}

function list(flags: string, description: string): Option {
  return new Option(flags, description).argParser(
    (value, previous: readonly string[] | undefined) => [...(previous ?? []), value],
  );
}

/** Takes the values that are enforced; the others that the design knows are refused by name. */
function only(flag: string, known: readonly string[], planned: Readonly<Record<string, string>>) {
  return (value: string): string => {
    if (known.includes(value)) return value;
    const what = planned[value];
    if (what !== undefined) {
      throw new UsageError(
        `${flag} ${value}: this version cannot enforce ${what}; nothing was started`,
      );
    }
    throw new InvalidArgumentError(`It must be ${known.join(' or ')}.`);
  };
}

function read(value: string): ReadMode {
  if (value === 'anywhere' || value === 'roots') return value;
  throw new InvalidArgumentError('It must be anywhere or roots.');
}

function git(value: string): GitMode {
  if (value === 'ask' || value === 'allow' || value === 'protect') return value;
  throw new InvalidArgumentError('It must be ask, allow or protect.');
}

function network(value: string): NetworkMode {
  if (value === 'off' || value === 'ask' || value === 'on') return value;
  throw new InvalidArgumentError('It must be off, ask or on.');
}

function ask(value: string): AskMode {
  if (value === 'deny' || value === 'tty' || value === 'editor') return value;
  throw new InvalidArgumentError('It must be deny, tty or editor.');
}

function refuseLimit(value: string): never {
  throw new UsageError(`--limit ${value}: this version cannot enforce limits; nothing was started`);
}

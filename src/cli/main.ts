// The `cordon` command: reads the command line and loads the one subcommand that it names. It must not start anything
// by itself, and loads nothing before it is needed: `cordon run` has 25 ms on top of Node's own start.

import { Command, CommanderError } from 'commander';
import { userMessageOf } from '../base/errors.js';
import { EXIT_CORDON_FAILED, say } from './messages.js';
import { addBoundaryOptions, addRequestOptions, addRunOptions } from './options.js';
import { exactArguments } from './paths.js';
import { UsageError } from './usage.js';
import type { BoundaryFlags, RunFlags } from './options.js';
import type { RequestFlags } from './request.js';

const EXAMPLES = `
Examples:
  cordon run -- npm test                        asks on the terminal when the network is wanted
  cordon run --allow '*.npmjs.org' -- npm ci    one host and everything below it, no question
  cordon run --network off -- make              nothing leaves
  cordon shell                                  your shell, inside
  cordon explain ~/.ssh                         what may be done with it, and why
  cordon request --write ~/out --because '…'    inside a run: ask before it is needed

Exit codes:
  the command's own · 128 + n ended by signal n · 125 the boundary could not be set up or Cordon was
  used wrongly (nothing was started) · 126 found but not executable · 127 not found`;

type Exit = (code: number) => void;

/** Each adds one subcommand to the program. */
const COMMANDS: Readonly<Record<string, (program: Command, exit: Exit) => void>> = {
  run(program, exit) {
    addRunOptions(program.command('run'))
      .summary('run a command inside the boundary')
      .description(
        'Runs a command inside the boundary. What follows the command belongs to it; -- marks where it begins.',
      )
      .argument('<command...>', 'the command and its arguments')
      .passThroughOptions()
      .action(async (command: string[], flags: RunFlags) => {
        exit(await (await import('./run.js')).run(flags, command));
      });
  },
  shell(program, exit) {
    addRunOptions(program.command('shell'))
      .summary('open your shell inside the boundary')
      .description('Opens the shell of your account ($SHELL) inside the boundary.')
      .argument('[arguments...]', 'arguments for the shell, after --')
      .passThroughOptions()
      .action(async (args: string[], flags: RunFlags) => {
        exit(await (await import('./run.js')).shell(flags, args));
      });
  },
  explain(program, exit) {
    addBoundaryOptions(program.command('explain'))
      .summary('tell what may be done with a path or a host, and which rule says so')
      .argument('<subject>', 'a path, a host or HOST:PORT')
      .action(async (subject: string, flags: BoundaryFlags) => {
        exit((await import('./explain.js')).explain(flags, subject));
      });
  },
  plan(program, exit) {
    addBoundaryOptions(program.command('plan'))
      .summary('print what the launcher would be told')
      .option('--platform <name>', 'the system to plan for: linux', 'linux')
      .option('--json', 'exactly the bytes that are sent')
      .action(async (flags: BoundaryFlags & { platform: string; json?: true }) => {
        exit((await import('./plan.js')).plan(flags));
      });
  },
  doctor(program, exit) {
    program
      .command('doctor')
      .summary('check that the boundary holds on this machine, by trying to break it')
      .option('--json', 'for programs')
      .action(async (flags: { json?: true }) => {
        exit(await (await import('./doctor.js')).doctor(flags));
      });
  },
  request(program, exit) {
    addRequestOptions(program.command('request'))
      .summary('inside a run: ask for a path, host or port before it is needed')
      .description(
        'Asks, from inside a run, for what will be needed later. Exit code 0: all of it is allowed; 1: something is not; 125: this is not a run.',
      )
      .action(async (flags: RequestFlags) => {
        exit(await (await import('./request.js')).request(flags));
      });
  },
  log(program, exit) {
    program
      .command('log')
      .summary('show what was asked, answered and refused')
      .option('--run <id>', 'only this run')
      .option('--follow', 'wait for more')
      .option('--json', 'the lines as they are recorded')
      .action(async (flags: { run?: string; follow?: true; json?: true }) => {
        exit(await (await import('./log.js')).log(flags));
      });
  },
};

/** A program that knows the subcommand `named`, or all of them when there is none of that name. */
function createProgram(named: string, exit: Exit): Command {
  const program = new Command('cordon')
    .description(
      'Runs commands in a boundary that the operating system enforces, and asks before anything leaves it.',
    )
    .version(process.env['CORDON_VERSION'] ?? 'development')
    .enablePositionalOptions()
    .showHelpAfterError(false)
    .configureOutput({ writeErr: () => undefined })
    .addHelpText('after', EXAMPLES)
    .exitOverride();
  const only = Object.hasOwn(COMMANDS, named) ? COMMANDS[named] : undefined;
  for (const add of only === undefined ? Object.values(COMMANDS) : [only]) add(program, exit);
  return program;
}

async function main(): Promise<number> {
  let code = 0;
  const given = exactArguments(process.argv.slice(2));
  const program = createProgram(given[0] ?? '', (result) => (code = result));
  try {
    await program.parseAsync(given.length === 0 ? ['--help'] : given, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0; // --help and --version were printed
      say(`${error.message.replace(/^error: /, '').replaceAll('\n', ' ')}; see: cordon --help`);
    } else {
      say(error instanceof UsageError ? error.message : userMessageOf(error));
    }
    return EXIT_CORDON_FAILED;
  }
  return code;
}

// At once: Linux has written everything by then, and tearing the heap down first takes milliseconds.
void main().then((code) => process.exit(code));

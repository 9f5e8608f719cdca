// A question as the broker would ask it, for tests of what faces make of it.

import type { Question } from '../../src/broker/prompter.js';
import type { Destination, Wanted, WriteObject } from '../../src/policy/request.js';

type Change = Partial<Omit<Question, 'request'>> & {
  readonly subject?: Partial<Question['request']['subject']>;
  readonly because?: string;
};

/** What curl asks; all answers are offered. */
export function questionFor(wanted: Wanted, change: Change = {}): Question {
  const { subject, because, ...question } = change;
  return {
    id: 'q1',
    request: {
      run: 'run1',
      subject: {
        pid: 1234,
        executable: '/usr/bin/curl',
        arguments: ['curl', '-sS', 'https://example.com/a b'],
        directory: '/ws/web',
        chain: [
          { pid: 1234, name: 'curl' },
          { pid: 1200, name: 'bash' },
        ],
        ...subject,
      },
      because: because ?? null,
      ...wanted,
    },
    waiting: 1,
    command: ['/bin/bash'],
    rule: 'network.mode is "ask"',
    privateAddresses: [],
    places: [],
    wish: 'do something',
    offers: ['once', 'run', 'session', 'always'],
    wider: null,
    always: [],
    never: [],
    askedAt: 0,
    expiresAt: 300_000,
    ...question,
  };
}

/** A question about a connection. */
export function reach(object: Destination, change: Change = {}): Question {
  const name = 'host' in object ? object.host : object.address;
  return questionFor(
    { action: 'connect', object },
    { wish: `reach ${name}:${object.port}`, ...change },
  );
}

/** A question about a file that is written. */
export function write(object: Partial<WriteObject>, change: Change = {}): Question {
  const whole: WriteObject = {
    path: '/home/me/elsewhere/x' as WriteObject['path'],
    call: 'create',
    to: null,
    folder: null,
    protected: false,
    change: null,
    ...object,
  };
  return questionFor(
    { action: 'write', object: whole },
    { wish: `write ${whole.path}`, ...change },
  );
}

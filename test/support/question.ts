// A question as the broker would ask it, for tests of what faces make of it.

import type { Question } from '../../src/broker/prompter.js';
import type { AccessRequest } from '../../src/policy/request.js';

export function questionFor(
  object: AccessRequest['object'],
  change: Partial<Omit<Question, 'request'>> & {
    readonly subject?: Partial<AccessRequest['subject']>;
  } = {},
): Question {
  const { subject, ...question } = change;
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
      action: 'port' in object ? 'connect' : 'lookup',
      object,
    },
    waiting: 1,
    command: ['/bin/bash'],
    rule: 'network.mode is "ask"',
    privateAddresses: [],
    places: [],
    askedAt: 0,
    expiresAt: 300_000,
    ...question,
  };
}

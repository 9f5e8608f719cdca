// Waiting for something that announces itself by no event.

import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until the answer is neither false nor undefined, and returns it. */
export async function until<T>(
  what: string,
  milliseconds: number,
  ask: () => T | false | undefined | Promise<T | false | undefined>,
): Promise<T> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const answer = await ask();
    if (answer !== false && answer !== undefined) return answer;
    if (Date.now() > end) throw new Error(`waited ${milliseconds} ms in vain for ${what}`);
    await sleep(50);
  }
}

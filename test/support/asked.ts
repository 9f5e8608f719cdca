// Answers of a scripted broker to what a launcher asks.

import type { Frame } from './launcherPeer.js';

/** The answer to an `ask`; `opens` is what it opens beyond this one call. */
export function answerTo(
  ask: Frame,
  effect: 'allow' | 'deny',
  opens: readonly { readonly access: string; readonly path: string }[] = [],
): Frame {
  return {
    kind: 'answer',
    id: ask['id'],
    effect,
    reason: 'user',
    addresses: [],
    message: null,
    opens,
  };
}

/** Answers every question alike. */
export function answerAll(effect: 'allow' | 'deny'): (frame: Frame) => Frame | undefined {
  return (frame) => (frame.kind === 'ask' ? answerTo(frame, effect) : undefined);
}

/** What was asked, as `action object`. */
export function asked(frames: readonly Frame[]): readonly (readonly [unknown, unknown])[] {
  return frames.filter(({ kind }) => kind === 'ask').map((ask) => [ask['action'], ask['object']]);
}

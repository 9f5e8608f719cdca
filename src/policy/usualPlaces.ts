// Built-in places: written below the home folder, or absolute with `UID` for the user's number.

import type { AbsolutePath } from './paths.js';
import { absolutePath } from './paths.js';
import type { PolicyContext } from './policy.js';
import { below } from './writtenPaths.js';

/** The home folders of the user: what HOME says, and what the account says. */
export function homesOf({ home, accountHome }: PolicyContext): readonly AbsolutePath[] {
  return accountHome === undefined || accountHome === home ? [home] : [home, accountHome];
}

export function usualPlaces(
  places: readonly string[],
  context: PolicyContext,
): readonly AbsolutePath[] {
  return places.flatMap((place) => {
    const text = place.replace('UID', String(context.uid));
    const absolute = absolutePath(text);
    return absolute === undefined ? homesOf(context).map((home) => below(home, text)) : [absolute];
  });
}

/** Whether a relative path's components stand in a row somewhere in `path`. */
export function hasComponents(path: AbsolutePath, relative: string): boolean {
  return `${path}/`.includes(`/${relative}/`);
}

// Promises that a run cannot keep, in words. A gap is shown to the user; what is not listed here must be enforced.

import type { AbsolutePath } from '../policy/paths.js';
import type { Gap } from './plan.js';

/** Where no call can be held, names can be created because nothing is there yet that could be made read-only. */
export function absentProtectedGap(paths: readonly AbsolutePath[]): Gap {
  return {
    promise: 'Protected paths stay read-only, also before they exist',
    reason: `these do not exist yet and can be created: ${listed(paths)}`,
  };
}

/** The same for a link, which cannot be made read-only by itself, only what it leads to. */
export function replaceableLinkGap(paths: readonly AbsolutePath[]): Gap {
  return {
    promise: 'Protected paths stay read-only',
    reason: `a symbolic link can be replaced by something else: ${listed(paths)}`,
  };
}

/** And for what stands further down, since nobody looks for it. */
export function nestedRepositoriesGap(roots: readonly AbsolutePath[]): Gap {
  return {
    promise: '.git stays read-only at any depth',
    reason: `only the .git directly in a writable root is protected, not those of repositories further down: ${listed(roots)}`,
  };
}

export function absentClosedGap(paths: readonly AbsolutePath[]): Gap {
  return {
    promise: 'Closed places cannot be read, also when they appear later',
    reason: `these do not exist yet; created outside while the command runs, they can be read: ${listed(paths)}`,
  };
}

export function homeRootGap(root: AbsolutePath): Gap {
  return {
    promise: 'What runs later outside the sandbox cannot be changed',
    reason: `${root} contains the home folder: its well-known start-up files are protected, others are not`,
  };
}

/** Masked, because holding reads in that many places is not possible. */
export function hiddenClosedGap(paths: readonly AbsolutePath[]): Gap {
  return {
    promise: 'You are asked before a closed place is read',
    reason: `too many places are closed; these are hidden without a question, and what is open inside of them as well: ${listed(paths)}`,
  };
}

/** A folder that has no name of its own to be created: the whole list would hide the point. */
const MOST_LISTED = 12;

function listed(paths: readonly AbsolutePath[]): string {
  const shown = paths.slice(0, MOST_LISTED).join(', ');
  const rest = paths.length - MOST_LISTED;
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

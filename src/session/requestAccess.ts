// Asking from inside a run, for the command line.

export { requestAccess } from '../launch/control/requestAccess.js';
export type { AccessWish, WishResult } from '../launch/control/wishes.js';

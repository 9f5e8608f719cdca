// Wrong use of the command line, said in one sentence.

/** Ends the command with exit code 125; the message names the flag and the way out. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

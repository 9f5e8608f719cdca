// Ends every switch over a union, so that a new case finds each place that must think about it.

export function assertNever(value: never): never {
  throw new Error(`unexpected case ${JSON.stringify(value)}`);
}

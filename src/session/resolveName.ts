// Looks a name up on the host. Only the broker calls it, and only for names that were allowed.

/** Every address, in the order of the system's resolver. `dns.promises.lookup` is taken at the time of the call. */
export async function resolveName(host: string): Promise<readonly string[]> {
  const { default: dns } = await import('node:dns');
  const found = await dns.promises.lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

// A constant that costs something to make, made when it is first wanted.

/** Calls `make` at most once; the same value ever after. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

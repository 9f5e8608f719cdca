// Frames' JSON, stricter than JSON.parse: UTF-8, no duplicate keys, bounded depth, no number or character that the C
// reader refuses. It knows no shapes.

/** Reads the JSON of one frame; throws an Error that says what is wrong with it. */
export type ParseFrame<Frame> = (bytes: Uint8Array) => Frame;

const MAX_DEPTH = 16;
/** A string literal; what is left of a valid text without these is structure, numbers and words. */
const STRING = /"(?:[^"\\]|\\.)*"/gsu;
/** NUL cannot be in a path or an argument, and of lone surrogates only those for bytes are allowed ("Bytes"). */
const FORBIDDEN = /[\0]|[\ud800-\udc7f]|[\udd00-\udfff]/u;

/** Throws an Error that says what is wrong. */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  const value: unknown = JSON.parse(text);
  const keys = checkValue(value, MAX_DEPTH);
  // JSON.parse keeps the last of two equal keys, so a text with more colons than the value has keys held a duplicate.
  if (text.replace(STRING, '').split(':').length - 1 !== keys)
    throw new Error('a key appears twice');
  return value;
}

/** Returns the number of keys in `value` and below. */
function checkValue(value: unknown, depth: number): number {
  if (typeof value === 'string') {
    if (FORBIDDEN.test(value)) throw new Error('a string holds NUL or a lone surrogate');
    return 0;
  }
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new Error('a number is not an integer within ±2^53');
    return 0;
  }
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === 0) throw new Error(`nested deeper than ${MAX_DEPTH}`);
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, item) => sum + checkValue(item, depth - 1), 0);
  }
  return Object.entries(value).reduce(
    (sum, [key, item]) => sum + 1 + checkValue(key, depth) + checkValue(item, depth - 1),
    0,
  );
}

// Bytes that are not UTF-8, in text: each travels as the lone surrogate U+DC00 + byte (native/PROTOCOL.md, "Bytes").
// The only place where path bytes become strings and strings become path bytes.

const ESCAPED = /[\udc80-\udcff]/u;

/** The text of path bytes; bytes that are not valid UTF-8 become lone surrogates U+DC80 … U+DCFF. */
export function bytesToText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  if (!text.includes('\ufffd')) return text;
  let result = '';
  for (let at = 0; at < buffer.length;) {
    const length = sequenceLength(buffer, at);
    if (length === 0) {
      result += String.fromCharCode(0xdc00 + (buffer[at] ?? 0));
      at += 1;
    } else {
      result += buffer.toString('utf8', at, at + length);
      at += length;
    }
  }
  return result;
}

/** The path bytes of a text made by `bytesToText`. Other lone surrogates become U+FFFD, as in any UTF-8 encoder. */
export function textToBytes(text: string): Buffer {
  if (!ESCAPED.test(text)) return Buffer.from(text, 'utf8');
  return Buffer.concat(
    Array.from(text, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return code >= 0xdc80 && code <= 0xdcff
        ? Buffer.from([code - 0xdc00])
        : Buffer.from(character, 'utf8');
    }),
  );
}

/** Length of the valid UTF-8 sequence at `at`, 0 when there is none (RFC 3629). */
function sequenceLength(bytes: Buffer, at: number): number {
  const length = announcedLength(bytes[at] ?? 0);
  if (length === 0 || at + length > bytes.length) return 0;
  const text = bytes.toString('utf8', at, at + length);
  const isReplaced =
    text.includes('\ufffd') && !bytes.subarray(at, at + length).equals(REPLACEMENT);
  return isReplaced ? 0 : length;
}

const REPLACEMENT = Buffer.from('\ufffd');

/** How many bytes a first byte announces; 0 when it is none. */
function announcedLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}

// Text from programs, made safe to show beside our own words: it can neither hide, reorder, overlay nor flood them.

/** At most `limit` characters, cut in the middle; what cannot be seen is spelled out as `\u{202e}`. */
export function plainText(text: string, limit: number): string {
  const visible = /[^ -~]/.test(text) ? withoutTricks(text) : text;
  const characters = Array.from(visible);
  if (characters.length <= limit) return visible;
  const head = Math.ceil((limit - 1) / 2);
  const tail = limit - 1 - head;
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - tail).join('')}`;
}

/** Its expressions are costly to compile, and seldom needed: they stay inside, so that loading this file is free. */
function withoutTricks(text: string): string {
  // Control, format (bidirectional, zero-width), surrogate and separator characters, and letters that look like nothing:
  // Hangul fillers and the empty Braille pattern.
  const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu;
  // Spaces of other widths; text that differs must look different, but a space is a space.
  const otherSpace = /(?! )\p{Zs}/gu;
  // More than two marks on one letter climb over the lines above and below.
  const stackedMarks = /(\p{M}{2})\p{M}+/gu;
  return text
    .replace(invisible, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
    .replace(otherSpace, ' ')
    .replace(stackedMarks, '$1');
}

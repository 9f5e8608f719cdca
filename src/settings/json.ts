// Reads JSON as it is written by hand: with the line of every key and value, so that a problem can be pointed at.
// Strict, like JSON.parse, and stricter: a key that comes twice is refused, since one of the two would be without effect.

export type JsonResult =
  | {
      readonly kind: 'read';
      readonly value: unknown;
      /** Line of each value by its dotted path: `network.allow[2]`. */
      readonly lines: ReadonlyMap<string, number>;
    }
  | { readonly kind: 'broken'; readonly line: number; readonly message: string };

const DEEPEST = 16;
const LONGEST = 1 << 20;

const TOKEN =
  /[ \t\r\n]*(?:(?<mark>[{}[\],:])|(?<text>"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*")|(?<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<word>true|false|null)|(?<end>$))/y;

interface Token {
  readonly kind: 'mark' | 'text' | 'number' | 'word' | 'end';
  readonly text: string;
  readonly at: number;
}

/** Unwinds the reader; never leaves this file. */
class Broken extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

export function readJson(source: string): JsonResult {
  const text = source.replace(/^\ufeff/u, '');
  if (text.length > LONGEST) return { kind: 'broken', line: 1, message: 'is larger than 1 MiB' };
  const starts = lineStarts(text);
  const lines = new Map<string, number>();
  const reader = new Reader(text, (path, at) => lines.set(path, lineOf(starts, at)));
  try {
    return { kind: 'read', value: reader.document(), lines };
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return { kind: 'broken', line: lineOf(starts, error.at), message: error.message };
  }
}

class Reader {
  readonly #text: string;
  readonly #found: (path: string, at: number) => void;
  #at = 0;

  constructor(text: string, found: (path: string, at: number) => void) {
    this.#text = text;
    this.#found = found;
  }

  document(): unknown {
    const value = this.#value(this.#next(), '', 0);
    const rest = this.#next();
    if (rest.kind !== 'end') throw new Broken(rest.at, 'has something after its end');
    return value;
  }

  #next(): Token {
    TOKEN.lastIndex = this.#at;
    const groups = TOKEN.exec(this.#text)?.groups;
    if (groups === undefined) throw this.#unreadable();
    this.#at = TOKEN.lastIndex;
    for (const kind of ['mark', 'text', 'number', 'word'] as const) {
      const text = groups[kind];
      if (text !== undefined) return { kind, text, at: this.#at - text.length };
    }
    return { kind: 'end', text: '', at: this.#at };
  }

  #unreadable(): Broken {
    const rest = /^[ \t\r\n]*(?<first>.?.?)/u.exec(this.#text.slice(this.#at));
    const first = rest?.groups?.['first'] ?? '';
    const at = this.#at + (rest?.[0].length ?? 0) - first.length;
    if (first === '//' || first === '/*')
      return new Broken(at, 'has a comment; plain JSON has none');
    if (first.startsWith("'"))
      return new Broken(at, 'has a text in single quotes; JSON wants double quotes');
    if (first.startsWith('"'))
      return new Broken(at, 'has a text that does not end or holds a wrong escape');
    return new Broken(at, `is not valid JSON at ${JSON.stringify(first.slice(0, 1))}`);
  }

  #value(token: Token, path: string, depth: number): unknown {
    if (depth > DEEPEST) throw new Broken(token.at, 'is nested too deeply');
    this.#found(path, token.at);
    if (token.kind === 'text' || token.kind === 'number' || token.kind === 'word') {
      return JSON.parse(token.text) as unknown;
    }
    if (token.text === '{') return this.#object(path, depth);
    if (token.text === '[') return this.#array(path, depth);
    throw new Broken(
      token.at,
      token.kind === 'end' ? 'ends too early' : `has ${token.text} where a value belongs`,
    );
  }

  #object(path: string, depth: number): unknown {
    const entries = new Map<string, unknown>();
    let token = this.#next();
    while (token.text !== '}' || token.kind !== 'mark') {
      if (token.kind !== 'text')
        throw new Broken(token.at, wrongEntry(token, 'a key in double quotes'));
      const key = JSON.parse(token.text) as string;
      if (entries.has(key)) throw new Broken(token.at, `has the key ${token.text} twice`);
      this.#expect(':');
      const below = path === '' ? key : `${path}.${key}`;
      const value = this.#value(this.#next(), below, depth + 1);
      this.#found(below, token.at); // the key's own line, also when the value begins further down
      entries.set(key, value);
      token = this.#separator('}');
    }
    return Object.fromEntries(entries);
  }

  #array(path: string, depth: number): unknown {
    const items: unknown[] = [];
    let token = this.#next();
    while (token.text !== ']' || token.kind !== 'mark') {
      items.push(this.#value(token, `${path}[${items.length}]`, depth + 1));
      token = this.#separator(']');
    }
    return items;
  }

  /** The closing mark, or the token that follows a comma. */
  #separator(close: string): Token {
    const token = this.#next();
    if (token.kind === 'mark' && token.text === close) return token;
    if (token.kind !== 'mark' || token.text !== ',') {
      throw new Broken(token.at, wrongEntry(token, `a comma or ${close}`));
    }
    const following = this.#next();
    if (following.kind === 'mark' && following.text === close) {
      throw new Broken(token.at, `has a comma before ${close}`);
    }
    return following;
  }

  #expect(mark: string): void {
    const token = this.#next();
    if (token.kind !== 'mark' || token.text !== mark)
      throw new Broken(token.at, wrongEntry(token, mark));
  }
}

function wrongEntry(token: Token, wanted: string): string {
  return token.kind === 'end' ? 'ends too early' : `has ${token.text} where ${wanted} belongs`;
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineOf(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle;
  }
  return low + 1;
}

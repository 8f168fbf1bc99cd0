import type { Faults } from "./faults.ts";
import { maxDepth } from "./limits.ts";
import { lineIndex } from "./line-index.ts";
import { canonicalNumber, type MapEntry, type SourceNode } from "./source-node.ts";

/** Reads a JSON document (RFC 8259) as a tree with positions; undefined after reporting what is wrong with it. */
export function readJson(body: string, faults: Faults): SourceNode | undefined {
  const reader = new JsonReader(body, faults);
  try {
    return reader.document();
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const { line, column } = lineIndex(body).position(error.offset);
    // CloudFormation's parser has read the character that it complains of (fact 120).
    const read = error.offset < body.length ? column + 1 : column;
    faults.report({
      code: "JsonNotWellFormed",
      message: `Template format error: JSON not well-formed. (line ${line}, column ${read})`,
      path: "",
      offset: error.offset,
      hint: error.message,
    });
    return undefined;
  }
}

/** Ends the reading; never leaves this file. */
class NotJson extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const space = /[ \t\r\n]*/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const words: readonly (readonly [string, boolean | null])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

/** A class because a cursor moves through the text; it lives for one `readJson`. */
class JsonReader {
  readonly #text: string;
  readonly #faults: Faults;
  #at = 0;
  #depth = 0;

  constructor(text: string, faults: Faults) {
    this.#text = text;
    this.#faults = faults;
  }

  document(): SourceNode {
    if (this.#text.startsWith("\uFEFF")) this.#at = 1;
    const node = this.#value("");
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail("there is more after the end of the document");
    return node;
  }

  #value(path: string): SourceNode {
    this.#skipSpace();
    const offset = this.#at;
    switch (this.#text.charAt(offset)) {
      case "{":
        return this.#nested(() => this.#map(path, offset));
      case "[":
        return this.#nested(() => this.#list(path, offset));
      case '"':
        return { kind: "scalar", value: this.#string(), offset };
      default:
        return this.#word(offset) ?? this.#number(offset);
    }
  }

  #nested(read: () => SourceNode): SourceNode {
    if (++this.#depth > maxDepth) this.#fail(`nested more than ${maxDepth} deep`);
    this.#at++;
    const node = read();
    this.#depth--;
    return node;
  }

  #map(path: string, offset: number): SourceNode {
    const entries = new Map<string, MapEntry>();
    this.#skipSpace();
    if (this.#take("}")) return { kind: "map", entries: [], offset };
    do {
      this.#skipSpace();
      const keyOffset = this.#at;
      const key = this.#string();
      const keyPath = `${path}/${key}`;
      this.#skipSpace();
      if (!this.#take(":")) this.#fail('":" expected');
      const value = this.#value(keyPath);
      if (entries.has(key)) reportDuplicate(this.#faults, keyPath, keyOffset);
      entries.set(key, { key, keyOffset, value });
      this.#skipSpace();
    } while (this.#take(","));
    if (!this.#take("}")) this.#fail('"," or "}" expected');
    return { kind: "map", entries: [...entries.values()], offset };
  }

  #list(path: string, offset: number): SourceNode {
    const items: SourceNode[] = [];
    this.#skipSpace();
    if (this.#take("]")) return { kind: "list", items, offset };
    do {
      items.push(this.#value(`${path}/${items.length}`));
      this.#skipSpace();
    } while (this.#take(","));
    if (!this.#take("]")) this.#fail('"," or "]" expected');
    return { kind: "list", items, offset };
  }

  #string(): string {
    const start = this.#at;
    if (this.#text[start] !== '"') this.#fail("a string in double quotes expected");
    let end = this.#text.indexOf('"', start + 1);
    while (end !== -1 && this.#isEscaped(end, start)) end = this.#text.indexOf('"', end + 1);
    if (end === -1) this.#fail("this string has no end");
    this.#at = end + 1;
    try {
      return String(JSON.parse(this.#text.slice(start, end + 1)));
    } catch {
      this.#at = start;
      return this.#fail("this string has a bare control character or an unknown escape");
    }
  }

  #isEscaped(quote: number, start: number): boolean {
    let backslashes = 0;
    while (quote - 1 - backslashes > start && this.#text[quote - 1 - backslashes] === "\\") backslashes++;
    return backslashes % 2 === 1;
  }

  #word(offset: number): SourceNode | undefined {
    const found = words.find(([word]) => this.#text.startsWith(word, offset));
    if (found === undefined) return undefined;
    this.#at += found[0].length;
    return { kind: "scalar", value: found[1], offset };
  }

  #number(offset: number): SourceNode {
    number.lastIndex = offset;
    const text = number.exec(this.#text)?.[0];
    if (text === undefined) this.#fail("a value expected");
    this.#at += text.length;
    return { kind: "scalar", value: canonicalNumber(text) ?? text, offset };
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    space.lastIndex = this.#at;
    space.exec(this.#text);
    this.#at = space.lastIndex;
  }

  #fail(message: string): never {
    throw new NotJson(Math.min(this.#at, this.#text.length), message);
  }
}

/** Warns of a key that stands twice in one map: CloudFormation takes the last, and says nothing. */
export function reportDuplicate(faults: Faults, path: string, offset: number): void {
  const message = `[${path}] stands there twice: CloudFormation takes the last one.`;
  faults.report({ code: "DuplicateKey", severity: "warning", message, path, offset });
}

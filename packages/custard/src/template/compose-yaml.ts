/** The YAML library's own steps, from text to its document. */
import { Composer, Lexer, Parser, type Document, type Tags } from "yaml";
import { maxDepth } from "./limits.ts";

/** What the library says is wrong with a text. */
export interface YamlFault {
  readonly offset: number;
  readonly hint: string;
}

export interface Composed {
  readonly document?: Document.Parsed;
  readonly faults: readonly YamlFault[];
}

/** Composes a text. The steps are taken one by one, so that a nesting which the library's recursion can't bear is found in between. */
export function compose(body: string): Composed {
  const parser = new Parser();
  // With the failsafe schema every scalar keeps its text; what it means is decided by the reader.
  const composer = new Composer({
    schema: "failsafe",
    customTags: shortTags,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  const tokens = [];
  for (const lexeme of new Lexer().lex(body)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    // Each collection stands on the stack, and so does what is being read in it.
    if (parser.stack.length > maxDepth + 2) {
      return { faults: [{ offset: parser.offset, hint: `nested more than ${maxDepth} deep` }] };
    }
  }
  for (const token of parser.end()) tokens.push(token);
  const [document, second] = [...composer.compose(tokens, true, body.length)];
  if (document === undefined) return { faults: [] };
  if (second !== undefined)
    return { faults: [{ offset: second.range[0], hint: "a template is one document" }] };
  const faults = document.errors.map(({ pos, message }) => ({ offset: pos[0], hint: firstLine(message) }));
  return { document, faults };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}

/** More than any indentation: within quotes and brackets it means nothing. */
const padding = " ".repeat(200);
const mostLines = 100;
/** Characters that are read again in all, so that a large text with an open quote isn't read a hundred times. */
const mostCharacters = 2_000_000;

/**
 * Composes a text whose lines within quotes or brackets are less indented than YAML wants. CloudFormation takes
 * them, and so do published templates. The line after the place where the library stops is indented, until all is
 * read; undefined when that doesn't help. `placeOf` gives a place's offset in the text as it was.
 */
export function composeIndented(
  body: string,
  first: Composed,
): { readonly composed: Composed; readonly placeOf: (offset: number) => number } | undefined {
  let text = body;
  let composed = first;
  const padded: number[] = [];
  const most = Math.min(mostLines, mostCharacters / body.length);
  while (padded.length < most) {
    const [fault] = composed.faults;
    if (fault === undefined) return { composed, placeOf: (offset) => withoutPadding(offset, padded) };
    const line = lineAfter(text, fault);
    if (line === undefined || padded.includes(line)) return undefined;
    padded.push(line);
    text = text.slice(0, line) + padding + text.slice(line);
    composed = compose(text);
  }
  return undefined;
}

/** Where the line begins that ends the quotes or brackets too early, when indentation can mend the fault. */
function lineAfter(text: string, { offset, hint }: YamlFault): number | undefined {
  if (!/^(Missing closing|Flow (map|sequence) in block collection must)/.test(hint)) return undefined;
  const own = text.lastIndexOf("\n", offset - 1) + 1;
  // A bracket is told where the line has it, a quote at the end of the line before.
  if (text.slice(own, offset).trim() === "" && offset > own) return own;
  const blank = /\n[ \t\r\n]*/g;
  blank.lastIndex = Math.max(0, offset - 1);
  const space = blank.exec(text);
  if (space === null || space.index + space[0].length >= text.length) return undefined;
  return space.index + space[0].lastIndexOf("\n") + 1;
}

/** `padded` are offsets in the padded text, each as it was when its padding came in. */
function withoutPadding(offset: number, padded: readonly number[]): number {
  return padded
    .toReversed()
    .reduce((at, line) => (at >= line + padding.length ? at - padding.length : Math.min(at, line)), offset);
}

const names = [
  "Ref",
  "Condition",
  "GetAtt",
  "Sub",
  "Join",
  "Select",
  "Split",
  "FindInMap",
  "Base64",
  "Cidr",
  "GetAZs",
  "ImportValue",
  "If",
  "Equals",
  "And",
  "Or",
  "Not",
  "Length",
  "ToJsonString",
  "Transform",
  "Contains",
  "EachMemberEquals",
  "EachMemberIn",
  "RefAll",
  "ValueOf",
  "ValueOfAll",
];

/** Known to the library only so that it makes no warning of each; `functionName` says what a tag means. */
const shortTags: Tags = names.flatMap((name) => [
  { tag: `!${name}`, resolve: (text: string) => text },
  { tag: `!${name}`, collection: "seq" as const },
  { tag: `!${name}`, collection: "map" as const },
]);

/**
 * Patterns of `AllowedPattern`, for whole texts. These are Java's regular expressions; what JavaScript writes otherwise
 * is translated: possessive quantifiers become greedy ones, POSIX classes ranges.
 *
 * P1: a pattern that could take exponential time, like `(a+)+`, is matched in linear time by V8's second engine, which
 *     `cli/bin.ts` turns on. That one knows no Unicode mode, which is therefore used only where it makes a difference.
 */

/** Is it a regular expression? */
export function isPattern(pattern: string): boolean {
  return compile(pattern, "u") !== undefined || compile(pattern, "") !== undefined;
}

/** Does the whole text match? Undefined when the pattern is no regular expression. */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  const plain = needsUnicode(translate(pattern)) || needsUnicode(text) ? undefined : compile(pattern, "");
  // P1. Without Unicode there may be needless escapes, as in Java.
  return (plain ?? compile(pattern, "u") ?? compile(pattern, ""))?.test(text);
}

/** Characters of two units, and escapes that only Unicode mode knows. */
function needsUnicode(text: string): boolean {
  return /[\uD800-\uDFFF]|\\p\{|\\P\{|\\u\{/.test(text);
}

function compile(pattern: string, unicode: "u" | ""): RegExp | undefined {
  const { source, flags } = inlineFlags(pattern);
  try {
    return new RegExp(`^(?:${translate(source)})$`, `${flags}${unicode}`);
  } catch {
    return undefined;
  }
}

/** `(?i)` at the beginning. */
function inlineFlags(pattern: string): { readonly source: string; readonly flags: string } {
  const found = /^\(\?([ims]+)\)/.exec(pattern);
  if (found === null) return { source: pattern, flags: "" };
  return { source: pattern.slice(found[0].length), flags: [...new Set(found[1] ?? "")].join("") };
}

const classes: Readonly<Record<string, string>> = {
  Lower: "a-z",
  Upper: "A-Z",
  Alpha: "a-zA-Z",
  Digit: "0-9",
  Alnum: "a-zA-Z0-9",
  Punct: "!-\\/:-@\\[-`{-~",
  Graph: "!-~",
  Print: " -~",
  Blank: " \\t",
  XDigit: "0-9a-fA-F",
  Space: "\\s",
  ASCII: "\\x00-\\x7F",
};

const anchors: Readonly<Record<string, string>> = { A: "^", Z: "$", z: "$", h: "[ \\t]" };

const token = /\\p\{(?<name>\w+)\}|\\(?<escaped>.)|(?<quantifier>[*+?}])\+|[[\]]/su;

function translate(pattern: string): string {
  let inClass = false;
  let translated = "";
  let rest = pattern;
  for (let match = token.exec(rest); match !== null; match = token.exec(rest)) {
    const [whole] = match;
    translated += rest.slice(0, match.index) + translateToken(whole, match.groups ?? {}, inClass);
    rest = rest.slice(match.index + whole.length);
    if (whole === "[") inClass = true;
    else if (whole === "]") inClass = false;
  }
  return translated + rest;
}

function translateToken(
  whole: string,
  groups: Readonly<Record<string, string | undefined>>,
  inClass: boolean,
): string {
  const { name, escaped, quantifier } = groups;
  if (name !== undefined) return posix(whole, name, inClass);
  if (inClass) return whole;
  if (escaped !== undefined) return Object.hasOwn(anchors, escaped) ? (anchors[escaped] ?? whole) : whole;
  return quantifier ?? whole;
}

function posix(whole: string, name: string, inClass: boolean): string {
  const range = Object.hasOwn(classes, name) ? classes[name] : undefined;
  if (range === undefined) return whole;
  return inClass ? range : `[${range}]`;
}

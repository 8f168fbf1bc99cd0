// Control characters in what providers and templates say could drive the reader's terminal: they are shown, not obeyed.
const controls = /(?!\t)[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;

/** A foreign text as lines that are safe to show. Lambda writes the newlines of one log record as carriage returns. */
export function printableLines(text: string): readonly string[] {
  return text
    .replace(/(\r\n|\r|\n)$/, "")
    .split(/\r\n|\r|\n/)
    .map(escapeControls);
}

/** A foreign text on one line that is safe to show. */
export function printable(text: string): string {
  return printableLines(text).join(" ");
}

function escapeControls(line: string): string {
  return line.replaceAll(
    controls,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

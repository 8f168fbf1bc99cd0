// Control characters in what providers and templates say could drive the reader's terminal: they are shown, not obeyed.
// oxlint-disable-next-line no-control-regex
const controls =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

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

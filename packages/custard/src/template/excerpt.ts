import type { Diagnostic } from "./diagnostic.ts";

/** Longer lines are cut around the place. */
const width = 120;

/**
 * A diagnostic for people: `file:line:column: message`, then the line of the text with a caret below the place.
 *
 * ```text
 * template.yaml:5:7: Template error: every Ref object must have a single String value.
 *     5 |       Name: !Ref [A]
 *       |             ^
 * ```
 */
export function formatDiagnostic(diagnostic: Diagnostic, body: string, file = "template"): string {
  const { position, message, severity, hint } = diagnostic;
  const label = severity === "warning" ? "warning: " : "";
  const advice = hint === undefined ? [] : [`  (${hint})`];
  if (position === undefined) return [`${file}: ${label}${message}`, ...advice].join("\n");
  const { line, column } = position;
  return [`${file}:${line}:${column}: ${label}${message}`, ...excerpt(body, line, column), ...advice].join(
    "\n",
  );
}

function excerpt(body: string, line: number, column: number): readonly string[] {
  const source = body.split("\n", line)[line - 1];
  if (source === undefined) return [];
  const from = Math.max(0, column - 1 - width / 2);
  const shown = source.slice(from, from + width).replace(/\r$/, "");
  const before = shown.slice(0, column - 1 - from);
  // A tab stays a tab, so that the caret stands below its place however wide a tab is.
  const indent = before.replace(/[^\t]/g, " ");
  const gutter = String(line).padStart(5);
  return [`${gutter} | ${shown}`, `${" ".repeat(gutter.length)} | ${indent}^`];
}

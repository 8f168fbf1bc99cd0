import type { Position } from "./diagnostic.ts";

/** Where the lines of a text begin. */
export interface LineIndex {
  position(offset: number): Position;
}

/** An index of the text's lines, made when it is first asked. A line ends with a line feed, with or without a carriage return. */
export function lineIndex(text: string): LineIndex {
  let starts: readonly number[] | undefined;
  return {
    position(offset) {
      starts ??= lineStarts(text);
      const line = lastAtMost(starts, offset);
      return { line: line + 1, column: offset - (starts[line] ?? 0) + 1, offset };
    },
  };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function lastAtMost(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

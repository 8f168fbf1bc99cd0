import type { Colors } from "./io.ts";

/** Did the operation that ended with this stack status do what was asked? */
export function isSuccess(status: string): boolean {
  return status === "CREATE_COMPLETE" || status === "UPDATE_COMPLETE" || status === "DELETE_COMPLETE";
}

/** A status in its colour, padded to `width` first. */
export function formatStatus(status: string, colors: Colors, width = 0): string {
  const text = status.padEnd(width);
  if (status.endsWith("_FAILED")) return colors.red(text);
  if (status.includes("ROLLBACK")) return colors.yellow(text);
  return status.endsWith("_IN_PROGRESS") ? colors.cyan(text) : colors.green(text);
}

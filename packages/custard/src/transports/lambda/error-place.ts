import { fileURLToPath } from "node:url";
import type { StoredCode } from "../../services/function-record.ts";

/** Our own folders of unpacked code, and Lambda's own, where sandboxes show it. */
const unpacked = /^(?:.*\/functions-\d+-[^/]+\/code\/[0-9a-f]{40}\/task|\/var\/task)\//;

/**
 * Where in a function's own code an error arose, e.g. `index.js:3`, by its report as the runtime posted it; undefined
 * when the report doesn't tell. Paths start at the function's folder.
 */
export function placeOfError(payload: Uint8Array, code: StoredCode): string | undefined {
  const report = parse(payload);
  // Node.js names the innermost frame first, Python last.
  const frames = [...linesOf(report["trace"]), ...linesOf(report["stackTrace"]).toReversed()];
  for (const frame of frames) {
    const place = placeOfFrame(frame, code);
    if (place !== undefined) return place;
  }
  return undefined;
}

const frameForms = [
  // `at create (/…/index.js:2:46)`, `at async file:///…/index.mjs:3:1`
  /^\s*at .*?((?:file:\/\/)?\/[^()]*?):(\d+):\d+\)?$/,
  // Of a syntax error.
  /^((?:file:\/\/)?\/.*):(\d+)$/,
  /^\s*File "([^"]+)",? [lL]ine (\d+)/,
];

function placeOfFrame(frame: string, code: StoredCode): string | undefined {
  for (const form of frameForms) {
    const [, written, line] = form.exec(frame) ?? [];
    const file = written?.startsWith("file://") === true ? pathOf(written) : written;
    if (file === undefined || file.includes("/node_modules/") || file.includes("/site-packages/")) continue;
    const own = ownPath(file, code);
    if (own !== undefined) return `${own}:${line}`;
  }
  return undefined;
}

function pathOf(fileUrl: string): string | undefined {
  try {
    return fileURLToPath(fileUrl);
  } catch {
    return undefined;
  }
}

/** A file of the function's code, by its path from the top of that code; undefined for any other file. */
export function ownPath(file: string, code: StoredCode): string | undefined {
  if (code.kind === "directory" && file.startsWith(`${code.path}/`)) return file.slice(code.path.length + 1);
  return unpacked.test(file) ? file.replace(unpacked, "") : undefined;
}

function parse(payload: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload).toString("utf8"));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Python's elements hold a frame and its source line each. */
function linesOf(trace: unknown): readonly string[] {
  if (!Array.isArray(trace)) return [];
  return trace.flatMap((element: unknown) => (typeof element === "string" ? element.split("\n", 1) : []));
}

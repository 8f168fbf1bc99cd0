import type { Diagnostic, Parsed } from "./diagnostic.ts";
import type { DiagnosticCode } from "./diagnostic-codes.ts";
import { lineIndex } from "./line-index.ts";

/** What is wrong, and where. */
interface Fault {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly path: string;
  readonly offset?: number | undefined;
  readonly severity?: "error" | "warning";
  readonly hint?: string;
}

/** Where faults are collected while a template is read. */
export interface Faults {
  report(fault: Fault): void;
  /** Takes over what another collector has found in the same text. */
  adopt(other: Faults): void;
  /** Is any of them an error? */
  failed(): boolean;
  /** How many there were. */
  count(): number;
  /** All that was reported, in the order of the text. */
  diagnostics(): readonly Diagnostic[];
}

/** More than this many are of no use to anyone. */
const limit = 200;

/** A collector of faults for one text. */
export function collectFaults(body: string): Faults {
  const lines = lineIndex(body);
  const found: Diagnostic[] = [];
  let failed = false;
  let count = 0;
  function add(diagnostic: Diagnostic): void {
    failed ||= diagnostic.severity === "error";
    count++;
    if (found.length < limit) found.push(diagnostic);
  }
  return {
    report({ offset, severity = "error", ...fault }) {
      add({ ...fault, severity, ...(offset !== undefined && { position: lines.position(offset) }) });
    },
    adopt: (other) => other.diagnostics().forEach(add),
    failed: () => failed,
    count: () => count,
    diagnostics: () => found.toSorted((a, b) => (a.position?.offset ?? -1) - (b.position?.offset ?? -1)),
  };
}

/** The value when no error was reported; warnings come with it. */
export function parsed<T>(value: T, faults: Faults): Parsed<T> {
  const diagnostics = faults.diagnostics();
  return faults.failed() ? { ok: false, diagnostics } : { ok: true, value, diagnostics };
}

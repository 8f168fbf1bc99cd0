/** A place in a template's text. Lines and columns count from 1; offsets are UTF-16 units from 0. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** A fault in a template: a value that is collected, never thrown. */
export interface Diagnostic {
  readonly code: string;
  readonly severity: "error" | "warning";
  /** AWS's exact text where a fact gives it. */
  readonly message: string;
  /** `/Resources/X/Properties/…`; empty for the whole document. */
  readonly path: string;
  readonly position?: Position;
  /** What helps to mend it, where the message alone doesn't; ours, not AWS's. */
  readonly hint?: string;
}

/** Either a value, or at least one diagnostic of severity error. Warnings may come with both. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T; readonly diagnostics: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

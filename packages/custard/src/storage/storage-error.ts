/**
 * - `VersionConflict`: the stack has another number of records than the append expected.
 * - `ClaimTaken`: another stack holds the name (`claim`).
 * - `Unavailable`: the medium failed or was closed; nothing was written.
 * - `Locked`: another process uses the state directory.
 * - `Corrupt`: what was stored can't be read.
 */
export type StorageErrorCode = "VersionConflict" | "ClaimTaken" | "Unavailable" | "Locked" | "Corrupt";

/** A process that uses a state directory. */
export interface LockHolder {
  readonly pid: number;
  /** What it is called, e.g. `custard deploy`. */
  readonly command?: string;
}

/** Trouble with what is kept. Not thrown for a stack or key that doesn't exist. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly code: StorageErrorCode;
  /** Of `ClaimTaken`: the claim's name. */
  readonly claim: string | undefined;
  /** Of `Locked`: who uses the directory, as far as it said. */
  readonly holder: LockHolder | undefined;

  constructor(
    code: StorageErrorCode,
    message: string,
    options: ErrorOptions & { readonly claim?: string; readonly holder?: LockHolder } = {},
  ) {
    super(message, options);
    this.code = code;
    this.claim = options.claim;
    this.holder = options.holder;
  }
}

/** The append came too late, or too early. */
export function versionConflict(stackId: string, expected: number, found: number): StorageError {
  return new StorageError(
    "VersionConflict",
    `Stack ${stackId} has ${found} records, and ${expected} were expected: something else changed it meanwhile.`,
  );
}

/** The name belongs to another stack. */
export function claimTaken(claim: string, holder: string): StorageError {
  return new StorageError("ClaimTaken", `${claim} belongs to ${holder}.`, { claim });
}

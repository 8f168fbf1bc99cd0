import type { Json } from "@custard/provider/protocol";
import type { FunctionReference } from "./function-arn.ts";
import type { FunctionSettings } from "./function-settings.ts";

/** Where a new function's code comes from. Paths are absolute. */
export type CodeInput =
  /** `ZipFile` in a template: at most 4 MB; becomes `index.js` or `index.py`. */
  | { readonly kind: "inline"; readonly source: string }
  /** A zip archive, also from the local object store. */
  | { readonly kind: "zip"; readonly bytes: Uint8Array }
  /** Used in place and read again at each change of its files. */
  | { readonly kind: "directory"; readonly path: string };

/** Code as kept: bytes by the key of their blob, or a directory of the user's. */
export type StoredCode =
  | { readonly kind: "inline" | "zip"; readonly blob: string; readonly sha256: string; readonly size: number }
  | { readonly kind: "directory"; readonly path: string; readonly sha256: string; readonly size: number };

/** How asynchronous invocations of a function are retried and where they go in the end. */
export interface EventInvokeSettings {
  /** 0 to 2; Lambda's default is 2. */
  readonly maximumRetryAttempts?: number;
  /** 60 to 21600. */
  readonly maximumEventAgeSeconds?: number;
  /** ARN of a function, topic or queue. */
  readonly onSuccess?: string;
  readonly onFailure?: string;
}

/** `$LATEST`, or a published version. */
export interface FunctionVersion {
  readonly version: string;
  readonly settings: FunctionSettings;
  readonly code: StoredCode;
  readonly modifiedAt: number;
  /** Differs after each change (F2). */
  readonly revision: string;
  readonly description?: string;
}

/** What an ARN stands for at the moment. */
export interface ResolvedFunction extends FunctionVersion {
  readonly reference: FunctionReference;
  /** As asked for, with the qualifier. */
  readonly arn: string;
  readonly eventInvoke: EventInvokeSettings;
}

/** A function as the documents keep it. */
export interface StoredFunction {
  readonly latest: FunctionVersion;
  /** Oldest first. */
  readonly versions: readonly FunctionVersion[];
  /** Alias name to version. */
  readonly aliases: Readonly<Record<string, string>>;
  /** By qualifier. */
  readonly eventInvoke: Readonly<Record<string, EventInvokeSettings>>;
  readonly nextVersion: number;
  readonly changes: number;
  /** Token of the last change, to know its repetition after a crash. */
  readonly lastToken: string;
}

/**
 * Reads what the registry wrote itself. The documents are our own storage, so that only the outline is checked:
 * a value that isn't ours is a bug or a damaged state directory, and named as such.
 */
export function parseStoredFunction(value: Json, key: string): StoredFunction {
  if (!isStoredFunction(value)) throw new Error(`The stored function ${key} is damaged.`);
  return value;
}

function isStoredFunction(value: unknown): value is StoredFunction {
  return (
    typeof value === "object" &&
    value !== null &&
    "latest" in value &&
    "versions" in value &&
    Array.isArray(value.versions) &&
    "aliases" in value &&
    "eventInvoke" in value &&
    "nextVersion" in value &&
    "changes" in value
  );
}

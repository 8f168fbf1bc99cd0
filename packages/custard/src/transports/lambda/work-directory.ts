import { lstat, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TransportError } from "./transport-error.ts";

/**
 * Makes the folder in which code and instances are kept, and makes sure that it is the user's alone: often it stands
 * where others can make folders too, and what is in it is run. Throws `TransportError` (UnsafeDirectory).
 */
export async function openWorkDirectory(path: string): Promise<void> {
  await makeDirectory(path);
  const found = await lstat(path);
  const user = process.getuid?.();
  const isOwn = found.isDirectory() && (user === undefined || found.uid === user);
  if (isOwn && (found.mode & 0o022) === 0) return;
  throw new TransportError(
    "UnsafeDirectory",
    `Functions can't run from ${path}: others can write there. Remove it, or make it yours alone (chmod 700).`,
  );
}

/** A link that leads nowhere, a file, a folder of somebody else's: trying again won't help. */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TransportError(
      "UnsafeDirectory",
      `Functions can't run from ${path}: it can't be made (${why}). Remove what stands there, or set TMPDIR to another folder.`,
      { cause },
    );
  }
}

/** Outside of any project, so that functions find no packages but their own. */
export function defaultWorkDirectory(): string {
  return join(tmpdir(), `custard-${process.getuid?.() ?? "user"}`);
}

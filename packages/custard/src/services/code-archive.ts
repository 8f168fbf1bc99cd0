/** Reads the zip archives that functions and layers come in: file modes kept, nothing written outside the target. */
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import { type Unzipped, unzipSync } from "fflate";
import { FunctionError } from "./function-error.ts";

/** One file of an archive, as its central directory tells. */
export interface ArchiveEntry {
  readonly name: string;
  readonly size: number;
  readonly kind: "file" | "directory" | "link";
  readonly executable: boolean;
}

/** Lambda's limit for unzipped code, layers included. */
const unzippedBytes = 262_144_000;

const endOfDirectory = 0x06054b50;
const wideEndLocator = 0x07064b50;
const directoryEntry = 0x02014b50;
const wide = 0xffffffff;

/** Lists an archive without unpacking it. Throws `FunctionError` with Lambda's texts: no zip, too large, unsafe names. */
export function listArchive(bytes: Uint8Array): readonly ArchiveEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = entriesOf(bytes, view);
  const total = entries.reduce((sum, entry) => sum + entry.size, 0);
  if (total > unzippedBytes) {
    throw new FunctionError("InvalidParameter", `Unzipped size must be smaller than ${unzippedBytes} bytes`);
  }
  for (const { name } of entries) checkName(name);
  return entries;
}

/** Unpacks an archive into an existing directory. */
export async function extractArchive(bytes: Uint8Array, directory: string): Promise<void> {
  const entries = listArchive(bytes);
  const contents = unzip(bytes);
  for (const entry of entries) {
    const content = contents[entry.name];
    if (entry.kind !== "directory" && content !== undefined)
      await writeEntry(join(directory, entry.name), { entry, content });
  }
}

async function writeEntry(
  path: string,
  file: { readonly entry: ArchiveEntry; readonly content: Uint8Array },
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  if (file.entry.kind === "link") {
    const target = Buffer.from(file.content).toString("utf8");
    // A link may lead within the archive only: else a later entry could be written through it.
    checkName(join(dirname(file.entry.name), target));
    if (isAbsolute(target)) throw unsafe(target);
    await symlink(target, path);
    return;
  }
  // `wx` refuses to write through a link that an earlier entry made.
  await writeFile(path, file.content, { flag: "wx" });
  if (file.entry.executable) await chmod(path, 0o755);
}

function unzip(bytes: Uint8Array): Unzipped {
  try {
    return unzipSync(bytes);
  } catch (cause) {
    throw broken(cause);
  }
}

function entriesOf(bytes: Uint8Array, view: DataView): readonly ArchiveEntry[] {
  try {
    return readEntries(bytes, view);
  } catch (cause) {
    throw broken(cause);
  }
}

function readEntries(bytes: Uint8Array, view: DataView): readonly ArchiveEntry[] {
  const { offset, count } = directoryOf(view);
  const entries: ArchiveEntry[] = [];
  let at = offset;
  for (let index = 0; index < count; index += 1) {
    if (view.getUint32(at, true) !== directoryEntry) throw new RangeError("a directory entry is missing");
    const nameLength = view.getUint16(at + 28, true);
    const name = Buffer.from(bytes.subarray(at + 46, at + 46 + nameLength)).toString("utf8");
    const mode = view.getUint32(at + 38, true) >>> 16;
    entries.push({
      name,
      size: view.getUint32(at + 24, true),
      kind: kindOf(name, mode),
      executable: (mode & 0o111) !== 0,
    });
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return entries;
}

function kindOf(name: string, mode: number): ArchiveEntry["kind"] {
  if (name.endsWith("/")) return "directory";
  return (mode & 0o170000) === 0o120000 ? "link" : "file";
}

function directoryOf(view: DataView): { readonly offset: number; readonly count: number } {
  const end = findEnd(view);
  const offset = view.getUint32(end + 16, true);
  const count = view.getUint16(end + 10, true);
  if (offset !== wide && count !== 0xffff) return { offset, count };
  if (view.getUint32(end - 20, true) !== wideEndLocator)
    throw new RangeError("the zip64 directory is missing");
  const wideEnd = Number(view.getBigUint64(end - 12, true));
  return {
    offset: Number(view.getBigUint64(wideEnd + 48, true)),
    count: Number(view.getBigUint64(wideEnd + 32, true)),
  };
}

function findEnd(view: DataView): number {
  const least = Math.max(0, view.byteLength - 22 - 0xffff);
  for (let at = view.byteLength - 22; at >= least; at -= 1) {
    if (view.getUint32(at, true) === endOfDirectory) return at;
  }
  throw new RangeError("no end of directory");
}

function checkName(name: string): void {
  const path = normalize(name);
  const leaves = path === ".." || path.startsWith(`..${sep}`);
  if (leaves || isAbsolute(name) || name.includes("\\") || name.includes("\0")) throw unsafe(name);
}

function unsafe(name: string): FunctionError {
  return new FunctionError(
    "InvalidParameter",
    `The zip file has an entry that leads out of it: ${JSON.stringify(name)}.`,
  );
}

function broken(cause: unknown): FunctionError {
  return new FunctionError(
    "InvalidParameter",
    "Could not unzip uploaded file. Please check your file, then try to upload again.",
    {
      cause,
    },
  );
}

/**
 * Bodies of objects, a file each, in one folder.
 *
 * Invariants
 * B1: a body is on the disk, whole, before its id is given to anybody; it never changes afterwards.
 * B2: a body is written and read as a stream: its size is no matter of memory.
 */
import { createHash, randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type ChecksumAlgorithm, type Checksums, startChecksum } from "./checksums.ts";

/** Chunks of a body, in order. */
export type ByteSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** A body that was written. */
export interface WrittenBody {
  readonly id: string;
  readonly size: number;
  /** Hex. */
  readonly md5: string;
  readonly checksums: Checksums;
}

/** What of a body is wanted: byte `start` up to and with byte `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Bodies in a folder, which is made when the first is written. */
export class BodyFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Writes all that `source` gives; nothing stays when it, or the disk, fails. */
  async write(source: ByteSource, algorithms: readonly ChecksumAlgorithm[] = []): Promise<WrittenBody> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const id = randomUUID();
    try {
      return { id, ...(await writeFile(this.#pathOf(id), source, algorithms)) };
    } catch (error) {
      await this.delete(id);
      throw error;
    }
  }

  /** Another body with the same bytes; takes no space. */
  async duplicate(id: string): Promise<string> {
    const copy = randomUUID();
    await link(this.#pathOf(id), this.#pathOf(copy));
    return copy;
  }

  /** Opens a body. The stream must be read to its end or destroyed; the body may be deleted meanwhile. */
  async read(id: string, range?: ByteRange): Promise<Readable> {
    const handle = await open(this.#pathOf(id), "r");
    return handle.createReadStream(range);
  }

  /** A body in memory, for those that need it whole. */
  async bytes(id: string): Promise<Uint8Array> {
    const chunks: Buffer[] = [];
    for await (const chunk of await this.read(id)) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  /** What isn't there is fine. */
  async delete(id: string): Promise<void> {
    await rm(this.#pathOf(id), { force: true });
  }

  /**
   * Deletes bodies that nobody knows: a crash came between writing them and noting them. Only before anything is
   * written; who is known is asked only when there are bodies at all.
   */
  async sweep(known: () => Promise<ReadonlySet<string>>): Promise<void> {
    const ids = await readdir(this.#directory).catch(() => []);
    if (ids.length === 0) return;
    const kept = await known();
    for (const id of ids) if (!kept.has(id)) await this.delete(id);
  }

  #pathOf(id: string): string {
    return join(this.#directory, id);
  }
}

async function writeFile(
  path: string,
  source: ByteSource,
  algorithms: readonly ChecksumAlgorithm[],
): Promise<Omit<WrittenBody, "id">> {
  const md5 = createHash("md5");
  const running = algorithms.map((algorithm) => ({ algorithm, checksum: startChecksum(algorithm) }));
  let size = 0;
  const handle = await open(path, "wx", 0o600);
  try {
    for await (const chunk of source) {
      md5.update(chunk);
      for (const { checksum } of running) checksum.update(chunk);
      size += chunk.length;
      await handle.writeFile(chunk);
    }
    await handle.datasync();
  } finally {
    await handle.close();
  }
  const checksums = Object.fromEntries(
    running.map(({ algorithm, checksum }) => [algorithm, checksum.digest().toString("base64")]),
  );
  return { size, md5: md5.digest("hex"), checksums };
}

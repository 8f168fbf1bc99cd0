import { close, constants, createReadStream, fstat, open, type Stats } from "node:fs";
import { Socket } from "node:net";
import { promisify } from "node:util";
import type { Readable } from "node:stream";

/**
 * A file that a user named, up to `most` bytes and one more, so that its caller sees when there is more. Pipes and
 * devices are read as far: they don't keep the process from ending while they are waited for, and don't fill its
 * memory. Throws what `open` throws, EISDIR for a folder.
 */
export async function readBounded(path: string, most: number): Promise<Buffer> {
  // It may be a socket, which can't be opened by its path.
  if (path === "/dev/stdin") return await firstBytes(process.stdin, most + 1);
  const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await promisify(fstat)(fd);
  if (stats.isDirectory()) {
    await promisify(close)(fd);
    throw Object.assign(new Error(`EISDIR: illegal operation on a directory, read '${path}'`), {
      code: "EISDIR",
    });
  }
  return await firstBytes(contentOf(fd, stats), most + 1);
}

/** Owns the descriptor. A read that waits in a thread can't be given up; that of a pipe waits in the event loop. */
function contentOf(fd: number, stats: Stats): Readable {
  return stats.isFIFO() || stats.isSocket()
    ? new Socket({ fd, readable: true, writable: false })
    : createReadStream("", { fd });
}

async function firstBytes(content: Readable, most: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of content) {
    const bytes: Buffer = part;
    parts.push(bytes);
    size += bytes.length;
    if (size >= most) break;
  }
  return Buffer.concat(parts).subarray(0, most);
}

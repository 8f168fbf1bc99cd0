import { readFile, stat } from "node:fs/promises";

/**
 * The bytes of a file that a template names. Throws what reading throws, and refuses pipes and devices: reading one
 * may wait for ever, or never end.
 */
export async function readRegular(path: string): Promise<Buffer> {
  const stats = await stat(path);
  if (!stats.isFile() && !stats.isDirectory())
    throw Object.assign(new Error(`ENOTSUP: it is no regular file, read '${path}'`), { code: "ENOTSUP" });
  return await readFile(path);
}

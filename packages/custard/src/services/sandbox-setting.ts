import type { Documents } from "../engine/ports.ts";

const key = "setting/sandbox";

/**
 * Do functions run in sandboxes? Remembered, so that code which was run in sandboxes first isn't run without them by a
 * later delete or resume.
 */
export async function sandboxSetting(documents: Documents, wanted: boolean | undefined): Promise<boolean> {
  if (wanted === undefined) return (await documents.get(key)) === true;
  await documents.put(key, wanted);
  return wanted;
}

import { randomBytes } from "node:crypto";
import type { Documents } from "../engine/ports.ts";

/** A secret that is made once and kept with the state, so that what it signs is the same after a restart. */
export async function persistentSecret(documents: Documents, key: string): Promise<string> {
  const kept = await documents.get(key);
  if (typeof kept === "string") return kept;
  const secret = randomBytes(32).toString("hex");
  await documents.put(key, secret);
  return secret;
}

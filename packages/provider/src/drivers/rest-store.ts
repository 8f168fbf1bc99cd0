import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { Journal } from "../journal.ts";
import type { Json } from "../protocol/json.ts";

/** How the rest of some work gets from one invocation to the next: as a reference that tells nothing by itself. */
export interface RestStore {
  save(rest: Json, expiresAt: number): Promise<string>;
  /** Rejects when the reference is unknown, forged or expired. */
  load(reference: string): Promise<Json>;
}

/** The rest stays in a journal (which must outlive the process); the reference is a random key to it. */
export function journalStore(journal: Journal): RestStore {
  return {
    async save(rest, expiresAt) {
      const reference = randomBytes(24).toString("base64url");
      await journal.put(`rest/${reference}`, rest, expiresAt);
      return reference;
    },
    async load(reference) {
      const rest = await journal.get(`rest/${reference}`);
      if (rest === undefined) throw new Error("The continuation is unknown or has expired");
      return rest;
    },
  };
}

/**
 * The reference is the rest itself, encrypted and authenticated (AES-256-GCM). `secret` is a text of at least 32
 * characters that only this function knows, e.g. from an environment variable or Secrets Manager.
 */
export function sealedStore(secret: string, now: () => number = Date.now): RestStore {
  if (secret.length < 32) throw new TypeError("The secret must have at least 32 characters");
  const key = createHash("sha256").update(secret).digest();
  return {
    async save(rest, expiresAt) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const sealed = cipher.update(JSON.stringify({ rest, expiresAt }), "utf8");
      return Buffer.concat([nonce, sealed, cipher.final(), cipher.getAuthTag()]).toString("base64url");
    },
    async load(reference) {
      const bytes = Buffer.from(reference, "base64url");
      const { rest, expiresAt } = open(bytes, key);
      if (expiresAt <= now()) throw new Error("The continuation has expired");
      return rest;
    },
  };
}

function open(bytes: Buffer, key: Buffer): { rest: Json; expiresAt: number } {
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(-16));
    const text = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
    return JSON.parse(text.toString("utf8")) as { rest: Json; expiresAt: number };
  } catch (error) {
    throw new Error("The continuation can't be opened: another secret, or not ours", { cause: error });
  }
}

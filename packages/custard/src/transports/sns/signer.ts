/** Signs messages as SNS does, with a key of this state directory. */
import { createHash, createSign } from "node:crypto";
import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../../engine/ports.ts";

/** An RSA key and the certificate that vouches for it, both PEM. */
export interface SigningPair {
  readonly certificate: string;
  readonly key: string;
}

/** What signs, and where its certificate is found. */
export interface Signer {
  readonly certificate: string;
  /** `/SimpleNotificationService-<32 hex digits>.pem` */
  readonly certificatePath: string;
  /** Base64. Version 1 is SHA1withRSA, version 2 SHA256withRSA. */
  sign(text: string, version: SignatureVersion): string;
}

/** A topic's `SignatureVersion`; SNS's default is 1. */
export type SignatureVersion = "1" | "2";

const documentKey = "secret/sns-signing";
const algorithms = { "1": "RSA-SHA1", "2": "RSA-SHA256" } as const satisfies Record<SignatureVersion, string>;

/** Opens the signer of a state directory; the first time, `issue` makes its key. */
export async function openSigner(documents: Documents, issue: () => Promise<SigningPair>): Promise<Signer> {
  const { certificate, key } = await openPair(documents, issue);
  const digest = createHash("sha256").update(certificate).digest("hex").slice(0, 32);
  return {
    certificate,
    certificatePath: `/SimpleNotificationService-${digest}.pem`,
    sign: (text, version) => createSign(algorithms[version]).update(text, "utf8").sign(key, "base64"),
  };
}

async function openPair(documents: Documents, issue: () => Promise<SigningPair>): Promise<SigningPair> {
  const kept = await documents.get(documentKey);
  if (kept !== undefined && isPair(kept)) return kept;
  const pair = await issue();
  await documents.put(documentKey, { ...pair });
  return pair;
}

function isPair(value: Json): value is Json & SigningPair {
  return typeof value === "object" && value !== null && "certificate" in value && "key" in value;
}

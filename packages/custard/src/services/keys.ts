/**
 * KMS's keys and aliases, as records with material that really encrypts.
 *
 * Invariants
 * E1: what a key has encrypted is decrypted by that key alone, with the same context.
 * E2: a key that is disabled or awaits its deletion does neither.
 */
import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from "node:crypto";
import type { JsonObject } from "@custard/provider/protocol";
import { KeyedTurns } from "./keyed-turns.ts";
import { type NamedRecord, ownRecord, type Records, textOf } from "./records.ts";

/** KMS's own codes. */
export type KeyErrorCode =
  | "AlreadyExistsException"
  | "DisabledException"
  | "IncorrectKeyException"
  | "InvalidAliasNameException"
  | "InvalidCiphertextException"
  | "InvalidKeyUsageException"
  | "KMSInvalidStateException"
  | "MalformedPolicyDocumentException"
  | "NotFoundException"
  | "UnsupportedOperationException"
  | "ValidationException";

/** A refusal in KMS's own words. */
export class KeyError extends Error {
  override readonly name = "KeyError";
  readonly code: KeyErrorCode;

  constructor(code: KeyErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Whose keys. */
export interface KeyScope {
  readonly partition: string;
  readonly account: string;
  readonly region: string;
}

/** `Enabled`, `Disabled`, or what awaits its deletion. */
export type KeyState = "Enabled" | "Disabled" | "PendingDeletion";

/** What goes with a plaintext and is needed again to decrypt it. */
export type EncryptionContext = Readonly<Record<string, string>>;

const idLength = 36;
const ivLength = 12;
const tagLength = 16;
const headerLength = 1 + idLength + ivLength + tagLength;
/** Bytes of plaintext. */
const mostPlaintext = 4096;

/** Keys in `Records`. Throws `KeyError`. */
export class KeyStore {
  readonly #records: Records;
  readonly #turns = new KeyedTurns();

  constructor(records: Records) {
    this.#records = records;
  }

  /** `properties` in the form of templates. */
  async create(scope: KeyScope, properties: JsonObject): Promise<NamedRecord> {
    const id = randomUUID();
    return await this.#records.put(
      keyPlace(scope),
      id,
      ownRecord(properties, { KeyId: id, Arn: keyArn(scope, id) }),
    );
  }

  async list(scope: KeyScope): Promise<readonly NamedRecord[]> {
    return await this.#records.list(keyPlace(scope));
  }

  /** By id, ARN, alias or the alias's ARN; an alias of AWS's own makes its key when it is first asked for. */
  async get(scope: KeyScope, given: string): Promise<NamedRecord> {
    const name = given.replace(/^arn:[^:]*:kms:[^:]*:[^:]*:(?:key\/)?/, "");
    const id = name.startsWith("alias/") ? await this.#targetOf(scope, name) : name;
    const key = await this.#records.find(keyPlace(scope), id);
    if (key !== undefined) return key;
    throw new KeyError("NotFoundException", `Key '${keyArn(scope, id)}' does not exist`);
  }

  /** Changes a key's properties or what was added to it. */
  async change(
    scope: KeyScope,
    given: string,
    change: (key: NamedRecord) => { readonly properties?: JsonObject; readonly additions?: JsonObject },
  ): Promise<NamedRecord> {
    const { id } = await this.get(scope, given);
    return await this.#turns.run(id, async () => {
      const key = await this.get(scope, id);
      const { properties, additions } = change(key);
      return await this.#records.put(keyPlace(scope), id, {
        ...key,
        properties: { ...key.properties, ...properties },
        additions: { ...key.additions, ...additions },
      });
    });
  }

  async aliases(scope: KeyScope): Promise<readonly NamedRecord[]> {
    return await this.#records.list(aliasPlace(scope));
  }

  async createAlias(scope: KeyScope, name: string, keyId: string): Promise<void> {
    checkAlias(name);
    const key = await this.get(scope, keyId);
    await this.#turns.run(name, async () => {
      if ((await this.#records.find(aliasPlace(scope), name)) !== undefined)
        throw new KeyError(
          "AlreadyExistsException",
          `An alias with the name ${aliasArn(scope, name)} already exists`,
        );
      await this.#putAlias(scope, name, key.id);
    });
  }

  async updateAlias(scope: KeyScope, name: string, keyId: string): Promise<void> {
    const alias = await this.#alias(scope, name);
    const key = await this.get(scope, keyId);
    const properties = { ...alias.properties, TargetKeyId: key.id };
    await this.#records.put(aliasPlace(scope), name, { ...alias, properties });
  }

  async deleteAlias(scope: KeyScope, name: string): Promise<void> {
    await this.#alias(scope, name);
    await this.#records.delete(aliasPlace(scope), name);
  }

  /** E1, E2. Gives the key, too: what was given may have been an alias. */
  async encrypt(
    scope: KeyScope,
    keyId: string,
    { plaintext, context = {} }: { readonly plaintext: Uint8Array; readonly context?: EncryptionContext },
  ): Promise<{ readonly key: NamedRecord; readonly ciphertext: Uint8Array }> {
    if (plaintext.length === 0 || plaintext.length > mostPlaintext)
      throw new KeyError(
        "ValidationException",
        `1 validation error detected: Value at 'plaintext' failed to satisfy constraint: Member must have length less than or equal to ${mostPlaintext}`,
      );
    const key = await this.get(scope, keyId);
    checkUsable(key);
    const material = await this.#materialOf(scope, key);
    const iv = randomBytes(ivLength);
    const cipher = createCipheriv("aes-256-gcm", material, iv).setAAD(bytesOf(context));
    const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    const header = Buffer.concat([Buffer.from([1]), Buffer.from(key.id, "latin1"), iv, cipher.getAuthTag()]);
    return { key, ciphertext: Buffer.concat([header, body]) };
  }

  /** E1, E2. `keyId` must be the key that encrypted, when it is given. */
  async decrypt(
    scope: KeyScope,
    given: {
      readonly ciphertext: Uint8Array;
      readonly context?: EncryptionContext;
      readonly keyId?: string;
    },
  ): Promise<{ readonly key: NamedRecord; readonly plaintext: Uint8Array }> {
    const bytes = Buffer.from(given.ciphertext);
    if (bytes.length < headerLength || bytes[0] !== 1) throw new KeyError("InvalidCiphertextException", "");
    const id = bytes.toString("latin1", 1, 1 + idLength);
    const key = await this.#records.find(keyPlace(scope), id);
    if (key === undefined) throw new KeyError("InvalidCiphertextException", "");
    if (given.keyId !== undefined && (await this.get(scope, given.keyId)).id !== id)
      throw new KeyError(
        "IncorrectKeyException",
        "The key ID in the request does not identify a CMK that can perform this operation.",
      );
    checkUsable(key);
    const material = await this.#materialOf(scope, key);
    return { key, plaintext: opened({ bytes, material, context: given.context ?? {} }) };
  }

  /** Made when it is first needed. */
  async #materialOf(scope: KeyScope, key: NamedRecord): Promise<Buffer> {
    const known = textOf(key.additions?.["material"]);
    if (known !== undefined) return Buffer.from(known, "base64");
    const made = await this.change(scope, key.id, ({ additions }) => ({
      additions: { material: textOf(additions?.["material"]) ?? randomBytes(32).toString("base64") },
    }));
    return Buffer.from(textOf(made.additions?.["material"]) ?? "", "base64");
  }

  async #targetOf(scope: KeyScope, name: string): Promise<string> {
    const alias = await this.#findAlias(scope, name);
    const target = textOf(alias?.properties["TargetKeyId"]);
    if (target !== undefined) return target.replace(/^arn:.*:key\//, "");
    if (!/^alias\/aws\/[a-z0-9-]+$/.test(name)) return missingAlias(scope, name);
    return await this.#turns.run(name, async () => {
      const made = textOf((await this.#findAlias(scope, name))?.properties["TargetKeyId"]);
      if (made !== undefined) return made;
      const Description = `Default key that protects my ${name.slice("alias/aws/".length)} data`;
      const key = await this.create(scope, { Description, KeyManager: "AWS", EnableKeyRotation: true });
      await this.#putAlias(scope, name, key.id);
      return key.id;
    });
  }

  async #findAlias(scope: KeyScope, name: string): Promise<NamedRecord | undefined> {
    return await this.#records.find(aliasPlace(scope), name);
  }

  async #alias(scope: KeyScope, name: string): Promise<NamedRecord> {
    return (await this.#findAlias(scope, name)) ?? missingAlias(scope, name);
  }

  async #putAlias(scope: KeyScope, name: string, keyId: string): Promise<void> {
    await this.#records.put(aliasPlace(scope), name, ownRecord({ AliasName: name, TargetKeyId: keyId }, {}));
  }
}

/** As templates and calls have left it. */
export function keyStateOf({ properties, additions }: NamedRecord): KeyState {
  if (additions?.["deletionDate"] !== undefined && additions["deletionDate"] !== null)
    return "PendingDeletion";
  return properties["Enabled"] === false || properties["Enabled"] === "false" ? "Disabled" : "Enabled";
}

/** `arn:aws:kms:us-east-1:123456789012:key/<id>` */
export function keyArn({ partition, region, account }: KeyScope, id: string): string {
  return `arn:${partition}:kms:${region}:${account}:key/${id}`;
}

/** `arn:aws:kms:us-east-1:123456789012:alias/name` */
export function aliasArn({ partition, region, account }: KeyScope, name: string): string {
  return `arn:${partition}:kms:${region}:${account}:${name}`;
}

function checkUsable(key: NamedRecord): void {
  const arn = textOf(key.attributes["Arn"]) ?? key.id;
  const state = keyStateOf(key);
  if (state === "Disabled") throw new KeyError("DisabledException", `${arn} is disabled.`);
  if (state === "PendingDeletion")
    throw new KeyError("KMSInvalidStateException", `${arn} is pending deletion.`);
  const usage = textOf(key.properties["KeyUsage"]) ?? "ENCRYPT_DECRYPT";
  const spec = textOf(key.properties["KeySpec"]) ?? "SYMMETRIC_DEFAULT";
  if (usage !== "ENCRYPT_DECRYPT")
    throw new KeyError(
      "InvalidKeyUsageException",
      `${arn} key usage is ${usage} which is not valid for this operation.`,
    );
  if (spec !== "SYMMETRIC_DEFAULT")
    throw new KeyError(
      "UnsupportedOperationException",
      `Custard encrypts with symmetric keys only; ${arn} is of ${spec}.`,
    );
}

function opened(sealed: {
  readonly bytes: Buffer;
  readonly material: Buffer;
  readonly context: EncryptionContext;
}): Uint8Array {
  const { bytes, material, context } = sealed;
  const iv = bytes.subarray(1 + idLength, 1 + idLength + ivLength);
  const tag = bytes.subarray(headerLength - tagLength, headerLength);
  try {
    const cipher = createDecipheriv("aes-256-gcm", material, iv).setAAD(bytesOf(context)).setAuthTag(tag);
    return Buffer.concat([cipher.update(bytes.subarray(headerLength)), cipher.final()]);
  } catch {
    // What a wrong key or context gives; KMS says no more either.
    throw new KeyError("InvalidCiphertextException", "");
  }
}

/** The order of its entries doesn't count. */
function bytesOf(context: EncryptionContext): Buffer {
  return Buffer.from(JSON.stringify(Object.entries(context).toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

function checkAlias(name: string): void {
  if (!name.startsWith("alias/"))
    throw new KeyError(
      "ValidationException",
      'Alias must start with the prefix "alias/". Please see https://docs.aws.amazon.com/kms/latest/developerguide/kms-alias.html',
    );
  if (name.startsWith("alias/aws/"))
    throw new KeyError(
      "InvalidAliasNameException",
      "The alias name cannot begin with alias/aws/, which is reserved for AWS managed keys.",
    );
  if (!/^alias\/[\w/-]{1,250}$/.test(name))
    throw new KeyError(
      "InvalidAliasNameException",
      `Alias contains invalid characters for an alias: ${name}`,
    );
}

function missingAlias(scope: KeyScope, name: string): never {
  throw new KeyError("NotFoundException", `Alias ${aliasArn(scope, name)} is not found.`);
}

function keyPlace(scope: KeyScope) {
  return { ...scope, type: "AWS::KMS::Key" };
}

function aliasPlace(scope: KeyScope) {
  return { ...scope, type: "AWS::KMS::Alias" };
}

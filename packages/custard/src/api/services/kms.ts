/** KMS: its operations, over records of keys. Symmetric keys really encrypt; others are records. */
import { randomBytes } from "node:crypto";
import { aliasArn, keyArn, KeyError, keyStateOf, type KeyStore } from "../../services/keys.ts";
import { declaredTags, type NamedRecord, textOf, toDeclaredTags } from "../../services/records.ts";
import { ApiError } from "../api-error.ts";
import { definedOf } from "../defined.ts";
import type { Input } from "../input.ts";
import { pageOf } from "../pages.ts";
import type { Handler, Scope, Service } from "../service.ts";
import type { WireObject } from "../wire.ts";

/** What KMS works on. */
export interface KmsWorld {
  readonly keys: KeyStore;
  readonly now: () => number;
}

type Handle = Handler<KmsWorld>;

const createKey: Handle = async ({ input, scope }, { keys }) => {
  const made = await keys.create(scope, {
    Description: input.text("Description") ?? "",
    ...definedOf({
      KeyPolicy: input.text("Policy"),
      KeyUsage: input.text("KeyUsage"),
      KeySpec: input.text("KeySpec") ?? input.text("CustomerMasterKeySpec"),
      MultiRegion: input.flag("MultiRegion"),
      Origin: input.text("Origin"),
    }),
    ...(input.has("Tags") ? { Tags: toDeclaredTags(tagsIn(input)) } : {}),
  });
  return { KeyMetadata: toMetadata(made, scope) };
};

const describeKey: Handle = async ({ input, scope }, { keys }) => ({
  KeyMetadata: toMetadata(await keys.get(scope, input.need("KeyId")), scope),
});

const listKeys: Handle = async ({ input, scope }, { keys }) => {
  const page = pageIn(input, await keys.list(scope), ({ id }) => id);
  const shown = page.items.map(({ id }) => ({ KeyId: id, KeyArn: keyArn(scope, id) }));
  return { Keys: shown, ...page.rest };
};

const listAliases: Handle = async ({ input, scope }, { keys }) => {
  const wanted = input.text("KeyId");
  const id = wanted === undefined ? undefined : (await keys.get(scope, wanted)).id;
  const all = (await keys.aliases(scope)).filter((alias) => id === undefined || targetOf(alias) === id);
  const page = pageIn(input, all, (alias) => alias.id);
  const shown = page.items.map((alias) => ({
    AliasName: alias.id,
    AliasArn: aliasArn(scope, alias.id),
    TargetKeyId: targetOf(alias),
    CreationDate: alias.createdAt ?? 0,
    LastUpdatedDate: alias.createdAt ?? 0,
  }));
  return { Aliases: shown, ...page.rest };
};

const createAlias: Handle = async ({ input, scope }, { keys }) => {
  await keys.createAlias(scope, input.need("AliasName"), input.need("TargetKeyId"));
  return {};
};

const updateAlias: Handle = async ({ input, scope }, { keys }) => {
  await keys.updateAlias(scope, input.need("AliasName"), input.need("TargetKeyId"));
  return {};
};

const deleteAlias: Handle = async ({ input, scope }, { keys }) => {
  await keys.deleteAlias(scope, input.need("AliasName"));
  return {};
};

const getKeyPolicy: Handle = async ({ input, scope }, { keys }) => {
  const { properties } = await keys.get(scope, input.need("KeyId"));
  return { Policy: policyText(properties["KeyPolicy"], scope), PolicyName: "default" };
};

const putKeyPolicy: Handle = async ({ input, scope }, { keys }) => {
  const policy = input.need("Policy");
  if (!isObjectText(policy)) throw new KeyError("MalformedPolicyDocumentException", "");
  await keys.change(scope, input.need("KeyId"), () => ({ properties: { KeyPolicy: policy } }));
  return {};
};

const listKeyPolicies: Handle = async ({ input, scope }, { keys }) => {
  await keys.get(scope, input.need("KeyId"));
  return { PolicyNames: ["default"], Truncated: false };
};

/** The record stays, with its day; nothing deletes it then. */
const scheduleKeyDeletion: Handle = async ({ input, scope }, { keys, now }) => {
  const days = input.number("PendingWindowInDays") ?? 30;
  if (!Number.isInteger(days) || days < 7 || days > 30)
    throw new KeyError(
      "ValidationException",
      `1 validation error detected: Value '${days}' at 'pendingWindowInDays' failed to satisfy constraint: Member must be between 7 and 30`,
    );
  const deletionDate = now() + days * 86_400_000;
  const key = await keys.change(scope, input.need("KeyId"), (before) => {
    if (keyStateOf(before) === "PendingDeletion")
      throw new KeyError("KMSInvalidStateException", `${keyArn(scope, before.id)} is pending deletion.`);
    return { additions: { deletionDate, pendingDays: days } };
  });
  return {
    KeyId: keyArn(scope, key.id),
    DeletionDate: deletionDate,
    KeyState: "PendingDeletion",
    PendingWindowInDays: days,
  };
};

const cancelKeyDeletion: Handle = async ({ input, scope }, { keys }) => {
  const key = await keys.change(scope, input.need("KeyId"), (before) => {
    if (keyStateOf(before) !== "PendingDeletion")
      throw new KeyError("KMSInvalidStateException", `${keyArn(scope, before.id)} is not pending deletion.`);
    return { additions: { deletionDate: null, pendingDays: null }, properties: { Enabled: false } };
  });
  return { KeyId: keyArn(scope, key.id) };
};

/** An operation that sets one property. */
const setting =
  (properties: { readonly Enabled?: boolean; readonly EnableKeyRotation?: boolean }): Handle =>
  async ({ input, scope }, { keys }) => {
    await keys.change(scope, input.need("KeyId"), (key) => {
      if (keyStateOf(key) === "PendingDeletion")
        throw new KeyError("KMSInvalidStateException", `${keyArn(scope, key.id)} is pending deletion.`);
      return { properties };
    });
    return {};
  };

const getKeyRotationStatus: Handle = async ({ input, scope }, { keys }) => {
  const { id, properties } = await keys.get(scope, input.need("KeyId"));
  const isOn = properties["EnableKeyRotation"] === true || properties["EnableKeyRotation"] === "true";
  return {
    KeyId: keyArn(scope, id),
    KeyRotationEnabled: isOn,
    ...(isOn ? { RotationPeriodInDays: 365 } : {}),
  };
};

const updateKeyDescription: Handle = async ({ input, scope }, { keys }) => {
  const Description = input.need("Description");
  await keys.change(scope, input.need("KeyId"), () => ({ properties: { Description } }));
  return {};
};

const encrypt: Handle = async ({ input, scope }, { keys }) => {
  const plaintext = input.bytes("Plaintext") ?? new Uint8Array();
  const { key, ciphertext } = await keys.encrypt(scope, input.need("KeyId"), {
    plaintext,
    ...definedOf({ context: input.map("EncryptionContext") }),
  });
  return {
    CiphertextBlob: ciphertext,
    KeyId: keyArn(scope, key.id),
    EncryptionAlgorithm: "SYMMETRIC_DEFAULT",
  };
};

const decrypt: Handle = async ({ input, scope }, { keys }) => {
  const { key, plaintext } = await keys.decrypt(scope, {
    ciphertext: input.bytes("CiphertextBlob") ?? new Uint8Array(),
    ...definedOf({ context: input.map("EncryptionContext"), keyId: input.text("KeyId") }),
  });
  return { KeyId: keyArn(scope, key.id), Plaintext: plaintext, EncryptionAlgorithm: "SYMMETRIC_DEFAULT" };
};

const reEncrypt: Handle = async ({ input, scope }, { keys }) => {
  const source = await keys.decrypt(scope, {
    ciphertext: input.bytes("CiphertextBlob") ?? new Uint8Array(),
    ...definedOf({ context: input.map("SourceEncryptionContext"), keyId: input.text("SourceKeyId") }),
  });
  const { key, ciphertext } = await keys.encrypt(scope, input.need("DestinationKeyId"), {
    plaintext: source.plaintext,
    ...definedOf({ context: input.map("DestinationEncryptionContext") }),
  });
  return {
    CiphertextBlob: ciphertext,
    SourceKeyId: keyArn(scope, source.key.id),
    KeyId: keyArn(scope, key.id),
    SourceEncryptionAlgorithm: "SYMMETRIC_DEFAULT",
    DestinationEncryptionAlgorithm: "SYMMETRIC_DEFAULT",
  };
};

const dataKey =
  ({ isShown }: { readonly isShown: boolean }): Handle =>
  async ({ input, scope }, { keys }) => {
    const plaintext = randomBytes(dataKeyLength(input));
    const { key, ciphertext } = await keys.encrypt(scope, input.need("KeyId"), {
      plaintext,
      ...definedOf({ context: input.map("EncryptionContext") }),
    });
    return {
      CiphertextBlob: ciphertext,
      KeyId: keyArn(scope, key.id),
      ...(isShown ? { Plaintext: plaintext } : {}),
    };
  };

const generateRandom: Handle = async ({ input }) => ({
  Plaintext: randomBytes(lengthOf(input.number("NumberOfBytes") ?? 0)),
});

const tagResource: Handle = async ({ input, scope }, { keys }) => {
  await keys.change(scope, input.need("KeyId"), ({ properties }) => ({
    properties: { Tags: toDeclaredTags({ ...declaredTags(properties["Tags"]), ...tagsIn(input) }) },
  }));
  return {};
};

const untagResource: Handle = async ({ input, scope }, { keys }) => {
  const removed = input.texts("TagKeys") ?? [];
  await keys.change(scope, input.need("KeyId"), ({ properties }) => {
    const kept = Object.entries(declaredTags(properties["Tags"])).filter(([key]) => !removed.includes(key));
    return { properties: { Tags: toDeclaredTags(Object.fromEntries(kept)) } };
  });
  return {};
};

const listResourceTags: Handle = async ({ input, scope }, { keys }) => {
  const { properties } = await keys.get(scope, input.need("KeyId"));
  const tags = Object.entries(declaredTags(properties["Tags"]));
  return { Tags: tags.map(([TagKey, TagValue]) => ({ TagKey, TagValue })), Truncated: false };
};

export const kms: Service<KmsWorld> = {
  name: "kms",
  operations: {
    CancelKeyDeletion: cancelKeyDeletion,
    CreateAlias: createAlias,
    CreateKey: createKey,
    Decrypt: decrypt,
    DeleteAlias: deleteAlias,
    DescribeKey: describeKey,
    DisableKey: setting({ Enabled: false }),
    DisableKeyRotation: setting({ EnableKeyRotation: false }),
    EnableKey: setting({ Enabled: true }),
    EnableKeyRotation: setting({ EnableKeyRotation: true }),
    Encrypt: encrypt,
    GenerateDataKey: dataKey({ isShown: true }),
    GenerateDataKeyWithoutPlaintext: dataKey({ isShown: false }),
    GenerateRandom: generateRandom,
    GetKeyPolicy: getKeyPolicy,
    GetKeyRotationStatus: getKeyRotationStatus,
    ListAliases: listAliases,
    ListKeyPolicies: listKeyPolicies,
    ListKeys: listKeys,
    ListResourceTags: listResourceTags,
    PutKeyPolicy: putKeyPolicy,
    ReEncrypt: reEncrypt,
    ScheduleKeyDeletion: scheduleKeyDeletion,
    TagResource: tagResource,
    UntagResource: untagResource,
    UpdateAlias: updateAlias,
    UpdateKeyDescription: updateKeyDescription,
  },
  explain: (error) => (error instanceof KeyError ? new ApiError(error.code, error.message) : undefined),
};

function toMetadata(key: NamedRecord, scope: Scope): WireObject {
  const { id, properties, additions, createdAt = 0 } = key;
  const state = keyStateOf(key);
  const spec = textOf(properties["KeySpec"]) ?? "SYMMETRIC_DEFAULT";
  return {
    AWSAccountId: scope.account,
    KeyId: id,
    Arn: keyArn(scope, id),
    CreationDate: createdAt,
    Enabled: state === "Enabled",
    Description: textOf(properties["Description"]) ?? "",
    KeyUsage: textOf(properties["KeyUsage"]) ?? "ENCRYPT_DECRYPT",
    KeyState: state,
    ...(state === "PendingDeletion" ? { DeletionDate: Number(additions?.["deletionDate"]) } : {}),
    Origin: textOf(properties["Origin"]) ?? "AWS_KMS",
    KeyManager: properties["KeyManager"] === "AWS" ? "AWS" : "CUSTOMER",
    CustomerMasterKeySpec: spec,
    KeySpec: spec,
    ...(spec === "SYMMETRIC_DEFAULT" ? { EncryptionAlgorithms: [spec] } : {}),
    MultiRegion: properties["MultiRegion"] === true || properties["MultiRegion"] === "true",
  };
}

function targetOf({ properties }: NamedRecord): string {
  return (textOf(properties["TargetKeyId"]) ?? "").replace(/^arn:.*:key\//, "");
}

function policyText(policy: unknown, { partition, account }: Scope): string {
  if (typeof policy === "string") return policy;
  if (typeof policy === "object" && policy !== null) return JSON.stringify(policy);
  const Principal = { AWS: `arn:${partition}:iam::${account}:root` };
  const statement = {
    Sid: "Enable IAM User Permissions",
    Effect: "Allow",
    Principal,
    Action: "kms:*",
    Resource: "*",
  };
  return JSON.stringify({ Version: "2012-10-17", Id: "key-default-1", Statement: [statement] });
}

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function dataKeyLength(input: Input): number {
  const [spec, bytes] = [input.text("KeySpec"), input.number("NumberOfBytes")];
  if ((spec === undefined) === (bytes === undefined))
    throw new KeyError("ValidationException", "Please specify either number of bytes or key spec.");
  if (bytes !== undefined) return lengthOf(bytes);
  return spec === "AES_128" ? 16 : 32;
}

function lengthOf(bytes: number): number {
  if (Number.isInteger(bytes) && bytes >= 1 && bytes <= 1024) return bytes;
  throw new KeyError(
    "ValidationException",
    `1 validation error detected: Value '${bytes}' at 'numberOfBytes' failed to satisfy constraint: Member must be between 1 and 1024`,
  );
}

function tagsIn(input: Input): Readonly<Record<string, string>> {
  return Object.fromEntries(input.objects("Tags").map((tag) => [tag.need("TagKey"), tag.need("TagValue")]));
}

function pageIn<Item>(input: Input, items: readonly Item[], keyOf: (item: Item) => string) {
  const page = pageOf(items, {
    keyOf,
    size: input.number("Limit") ?? 100,
    token: input.text("Marker"),
    code: "InvalidMarkerException",
  });
  return { items: page.items, rest: { Truncated: page.next !== undefined, NextMarker: page.next } };
}

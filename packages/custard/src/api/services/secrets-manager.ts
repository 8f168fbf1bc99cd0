/** Secrets Manager: its operations, over the local store. Values go to those who ask for them, and nowhere else. */
import { randomPassword } from "../../services/random-password.ts";
import { SecretError } from "../../services/secret-error.ts";
import type { SecretContent, SecretDescription, SecretStore } from "../../services/secrets.ts";
import { ApiError } from "../api-error.ts";
import { definedOf } from "../defined.ts";
import type { Input } from "../input.ts";
import { pageOf } from "../pages.ts";
import type { Handler, Service } from "../service.ts";
import { tagsOf, toTags } from "../tags.ts";
import type { WireObject } from "../wire.ts";

/** What Secrets Manager works on. */
export interface SecretsWorld {
  readonly secrets: SecretStore;
}

type Handle = Handler<SecretsWorld>;

const createSecret: Handle = async ({ input, scope }, { secrets }) => {
  const versionId = input.text("ClientRequestToken");
  const { name, arn, versions } = await secrets.create(scope, {
    name: input.need("Name"),
    tags: tagsOf(input),
    ...definedOf({
      content: contentOf(input),
      versionId,
      token: versionId,
      description: input.text("Description"),
      keyId: input.text("KmsKeyId"),
    }),
  });
  return { ARN: arn, Name: name, VersionId: versions.at(-1)?.versionId };
};

const putSecretValue: Handle = async ({ input, scope }, { secrets }) => {
  const content = contentOf(input);
  if (content === undefined)
    throw new SecretError("InvalidRequestException", "You must provide either SecretString or SecretBinary.");
  const found = await secrets.put(scope, input.need("SecretId"), {
    content,
    ...definedOf({ versionId: input.text("ClientRequestToken"), stages: input.texts("VersionStages") }),
  });
  return { ARN: found.arn, Name: found.name, VersionId: found.versionId, VersionStages: found.stages };
};

const getSecretValue: Handle = async ({ input, scope }, { secrets }) => {
  const found = await secrets.value(scope, input.need("SecretId"), {
    versionId: input.text("VersionId"),
    stage: input.text("VersionStage"),
  });
  const { content } = found;
  return {
    ARN: found.arn,
    Name: found.name,
    VersionId: found.versionId,
    VersionStages: found.stages,
    CreatedDate: found.createdAt,
    ...("text" in content
      ? { SecretString: content.text }
      : { SecretBinary: Buffer.from(content.binary, "base64") }),
  };
};

const describeSecret: Handle = async ({ input, scope }, { secrets }) => {
  const secret = await secrets.describe(scope, input.need("SecretId"));
  return { ...toEntry(secret), VersionIdsToStages: stagesOf(secret) };
};

const listSecrets: Handle = async ({ input, scope }, { secrets }) => {
  const all = await secrets.list(scope);
  const { items, next } = pageOf(all, {
    keyOf: ({ arn }) => arn,
    size: input.number("MaxResults") ?? 100,
    token: input.text("NextToken"),
    code: "InvalidNextTokenException",
  });
  return {
    SecretList: items.map((secret) => ({ ...toEntry(secret), SecretVersionsToStages: stagesOf(secret) })),
    NextToken: next,
  };
};

const listSecretVersionIds: Handle = async ({ input, scope }, { secrets }) => {
  const { arn, name, versions } = await secrets.describe(scope, input.need("SecretId"));
  const shown = versions.filter(
    ({ stages }) => stages.length > 0 || input.flag("IncludeDeprecated") === true,
  );
  return {
    ARN: arn,
    Name: name,
    Versions: shown.map(({ versionId, stages, createdAt }) => ({
      VersionId: versionId,
      VersionStages: stages,
      CreatedDate: createdAt,
    })),
  };
};

const updateSecret: Handle = async ({ input, scope }, { secrets }) => {
  const secretId = input.need("SecretId");
  const change = definedOf({ description: input.text("Description"), keyId: input.text("KmsKeyId") });
  const { arn, name } = await secrets.update(scope, secretId, change);
  const content = contentOf(input);
  if (content === undefined) return { ARN: arn, Name: name };
  const token = definedOf({ versionId: input.text("ClientRequestToken") });
  const { versionId } = await secrets.put(scope, secretId, { content, ...token });
  return { ARN: arn, Name: name, VersionId: versionId };
};

const updateSecretVersionStage: Handle = async ({ input, scope }, { secrets }) => {
  const { arn, name } = await secrets.moveStage(scope, input.need("SecretId"), {
    stage: input.need("VersionStage"),
    ...definedOf({ to: input.text("MoveToVersionId"), from: input.text("RemoveFromVersionId") }),
  });
  return { ARN: arn, Name: name };
};

const deleteSecret: Handle = async ({ input, scope }, { secrets }) => {
  const { arn, name, deletedAt } = await secrets.delete(scope, input.need("SecretId"), {
    ...definedOf({
      recoveryDays: input.number("RecoveryWindowInDays"),
      force: input.flag("ForceDeleteWithoutRecovery"),
    }),
  });
  return { ARN: arn, Name: name, DeletionDate: deletedAt };
};

const restoreSecret: Handle = async ({ input, scope }, { secrets }) => {
  const { arn, name } = await secrets.restore(scope, input.need("SecretId"));
  return { ARN: arn, Name: name };
};

const getRandomPassword: Handle = async ({ input }) => ({
  RandomPassword: randomPassword(
    definedOf({
      length: input.number("PasswordLength"),
      excludeCharacters: input.text("ExcludeCharacters"),
      excludeNumbers: input.flag("ExcludeNumbers"),
      excludePunctuation: input.flag("ExcludePunctuation"),
      excludeUppercase: input.flag("ExcludeUppercase"),
      excludeLowercase: input.flag("ExcludeLowercase"),
      includeSpace: input.flag("IncludeSpace"),
      requireEachIncludedType: input.flag("RequireEachIncludedType"),
    }),
  ),
});

const tagResource: Handle = async ({ input, scope }, { secrets }) => {
  const secretId = input.need("SecretId");
  const { tags } = await secrets.describe(scope, secretId);
  await secrets.update(scope, secretId, { tags: { ...tags, ...tagsOf(input) } });
  return {};
};

const untagResource: Handle = async ({ input, scope }, { secrets }) => {
  const secretId = input.need("SecretId");
  const removed = input.texts("TagKeys") ?? [];
  const { tags } = await secrets.describe(scope, secretId);
  const kept = Object.entries(tags).filter(([key]) => !removed.includes(key));
  await secrets.update(scope, secretId, { tags: Object.fromEntries(kept) });
  return {};
};

export const secretsManager: Service<SecretsWorld> = {
  name: "secretsmanager",
  operations: {
    CreateSecret: createSecret,
    DeleteSecret: deleteSecret,
    DescribeSecret: describeSecret,
    GetRandomPassword: getRandomPassword,
    GetSecretValue: getSecretValue,
    ListSecrets: listSecrets,
    ListSecretVersionIds: listSecretVersionIds,
    PutSecretValue: putSecretValue,
    RestoreSecret: restoreSecret,
    TagResource: tagResource,
    UntagResource: untagResource,
    UpdateSecret: updateSecret,
    UpdateSecretVersionStage: updateSecretVersionStage,
  },
  explain: (error) => (error instanceof SecretError ? new ApiError(error.code, error.message) : undefined),
};

function contentOf(input: Input): SecretContent | undefined {
  const text = input.text("SecretString");
  const binary = input.bytes("SecretBinary");
  if (text !== undefined && binary !== undefined)
    throw new SecretError(
      "InvalidParameterException",
      "You can't specify both a binary secret value and a string secret value in the same secret.",
    );
  if (text !== undefined) return { text };
  return binary === undefined ? undefined : { binary: Buffer.from(binary).toString("base64") };
}

function toEntry(secret: SecretDescription): WireObject {
  return {
    ARN: secret.arn,
    Name: secret.name,
    Description: secret.description,
    KmsKeyId: secret.keyId,
    LastChangedDate: secret.changedAt,
    CreatedDate: secret.createdAt,
    DeletedDate: secret.deletedAt,
    Tags: toTags(secret.tags),
  };
}

function stagesOf({ versions }: SecretDescription): WireObject {
  const staged = versions.filter(({ stages }) => stages.length > 0);
  return Object.fromEntries(staged.map(({ versionId, stages }) => [versionId, stages]));
}

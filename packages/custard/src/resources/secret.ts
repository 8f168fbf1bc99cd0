import type { Json, JsonObject } from "@custard/provider/protocol";
import { type PasswordRules, randomPassword } from "../services/random-password.ts";
import { SecretError } from "../services/secret-error.ts";
import type { SecretContent, SecretStore } from "../services/secrets.ts";
import { equalValues } from "../template/value.ts";
import { ResourceFailure, serviceFailure } from "./failure.ts";
import { generatedName } from "./generated-name.ts";
import type { Handler, Made } from "./handler.ts";
import type { KeptRecords } from "./kept-records.ts";
import { scopeOf } from "./lambda-function.ts";
import { membersOf, tagsOf } from "./properties.ts";
import { seededUuid } from "./seeded.ts";
import { type Subject, textProperty, toText } from "./subject.ts";

/** `AWS::SecretsManager::Secret`: secrets of the local store. */
export function secretsManagerSecret(secrets: SecretStore, records: KeptRecords): Handler {
  return {
    async create(subject) {
      const { task, properties } = subject;
      const name = textProperty(subject, "Name") ?? generatedName(subject);
      const content = await asSecrets(subject, contentOf(subject));
      const made = await secrets
        .create(scopeOf(subject), {
          name,
          token: task.token,
          versionId: seededUuid(`secret-version:${task.token}`),
          ...describe(subject),
          ...(content === undefined ? {} : { content }),
        })
        .catch(async (error: unknown) =>
          isTaken(error) ? await records.refuseTaken(task, name) : secretFailure(error, subject),
        );
      // By ARN, as the resource is called, and by name, as others ask for it.
      await records.create(task, made.arn, { properties: withoutValue(properties), attributes: {} });
      return toMade(made.arn);
    },
    async update(subject) {
      const { task, properties } = subject;
      const scope = scopeOf(subject);
      await asSecrets(subject, secrets.update(scope, task.physicalId, describe(subject)));
      const content = changesValue(subject) ? await asSecrets(subject, contentOf(subject)) : undefined;
      if (content !== undefined) {
        const versionId = seededUuid(`secret-version:${task.token}`);
        await asSecrets(subject, putOnce(secrets, subject, { content, versionId }));
      }
      await records.update(task, { properties: withoutValue(properties), attributes: {} });
      return toMade(task.physicalId);
    },
    async delete(subject) {
      const { task } = subject;
      if (!(await records.owns(task))) return;
      // CloudFormation leaves no window for recovery.
      await secrets.delete(scopeOf(subject), task.physicalId, { force: true }).catch((error: unknown) => {
        if (!(error instanceof SecretError && error.code === "ResourceNotFoundException")) throw error;
      });
      await records.delete(task);
    },
  };
}

/** A generated value differs at each try: what a first try has put stays. */
async function putOnce(
  secrets: SecretStore,
  subject: Subject,
  version: { readonly content: SecretContent; readonly versionId: string },
): Promise<void> {
  const scope = scopeOf(subject);
  const { versions } = await secrets.describe(scope, subject.task.physicalId);
  if (versions.some(({ versionId }) => versionId === version.versionId)) return;
  await secrets.put(scope, subject.task.physicalId, version);
}

function describe(subject: Subject) {
  const { task, properties } = subject;
  const description = textProperty(subject, "Description");
  const keyId = textProperty(subject, "KmsKeyId");
  return {
    tags: { ...task.tags, ...tagsOf(properties["Tags"]) },
    ...(description === undefined ? {} : { description }),
    ...(keyId === undefined ? {} : { keyId }),
  };
}

async function contentOf(subject: Subject): Promise<SecretContent | undefined> {
  const text = textProperty(subject, "SecretString");
  const generate = subject.properties["GenerateSecretString"];
  if (text !== undefined && generate !== undefined) {
    throw new ResourceFailure(
      "You can't specify both SecretString and GenerateSecretString in the same secret.",
    );
  }
  if (text !== undefined) return { text };
  return generate === undefined
    ? undefined
    : { text: generated(membersOf(generate, "GenerateSecretString")) };
}

/** A new password, alone or as a member of the template's JSON. */
function generated(members: JsonObject): string {
  const password = randomPassword(rulesOf(members));
  const template = toText(members["SecretStringTemplate"]);
  const key = toText(members["GenerateStringKey"]);
  if (template === undefined && key === undefined) return password;
  if (template === undefined || key === undefined) {
    throw new ResourceFailure(
      "GenerateSecretString must have both SecretStringTemplate and GenerateStringKey, or none of them.",
    );
  }
  return JSON.stringify({ ...parseTemplate(template), [key]: password });
}

function parseTemplate(template: string): JsonObject {
  try {
    const parsed = JSON.parse(template) as Json;
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as JsonObject;
  } catch {
    // Said below.
  }
  throw new ResourceFailure("Could not parse SecretStringTemplate JSON object.");
}

function rulesOf(members: JsonObject): PasswordRules {
  const flags = {
    excludeNumbers: toText(members["ExcludeNumbers"]) === "true",
    excludePunctuation: toText(members["ExcludePunctuation"]) === "true",
    excludeUppercase: toText(members["ExcludeUppercase"]) === "true",
    excludeLowercase: toText(members["ExcludeLowercase"]) === "true",
    includeSpace: toText(members["IncludeSpace"]) === "true",
    requireEachIncludedType: toText(members["RequireEachIncludedType"]) !== "false",
  };
  return {
    ...flags,
    length: Number(toText(members["PasswordLength"]) ?? 32),
    excludeCharacters: toText(members["ExcludeCharacters"]) ?? "",
  };
}

function changesValue({ task }: Subject): boolean {
  return ["SecretString", "GenerateSecretString"].some(
    (name) => !equalValues(task.properties[name] ?? null, task.oldProperties?.[name] ?? null),
  );
}

/** The store keeps what is secret; the record needs it not. */
function withoutValue(properties: JsonObject): JsonObject {
  const { SecretString: _, ...others } = properties;
  return others;
}

function toMade(arn: string): Made {
  return { physicalId: arn, attributes: { Id: arn } };
}

function isTaken(error: unknown): boolean {
  return error instanceof SecretError && error.code === "ResourceExistsException";
}

async function asSecrets<T>(subject: Subject, call: Promise<T>): Promise<T> {
  return await call.catch((error: unknown) => secretFailure(error, subject));
}

function secretFailure(error: unknown, { task }: Subject): never {
  if (!(error instanceof SecretError)) throw error;
  throw serviceFailure(
    {
      service: "SecretsManager",
      message: error.message,
      httpStatus: 400,
      handlerErrorCode: error.code === "ResourceNotFoundException" ? "NotFound" : "InvalidRequest",
    },
    task.token,
    { cause: error },
  );
}

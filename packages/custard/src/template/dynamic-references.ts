/**
 * Dynamic references: `{{resolve:ssm:name:version}}`, `{{resolve:ssm-secure:…}}` and `{{resolve:secretsmanager:…}}`.
 * They stay as they are in evaluated values and in the journal; what they name is put in their place when a request
 * is delivered. What a secret becomes is sensitive.
 */
import { isValueList, isValueMap, Sensitive, type Value } from "./value.ts";

/** What a dynamic reference names. */
export type DynamicReference =
  | {
      readonly service: "ssm" | "ssm-secure";
      readonly text: string;
      readonly name: string;
      readonly version?: number;
    }
  | {
      readonly service: "secretsmanager";
      readonly text: string;
      /** A name or an ARN. */
      readonly secretId: string;
      /** The key of the secret's JSON; the whole secret without it. */
      readonly jsonKey?: string;
      readonly versionStage?: string;
      readonly versionId?: string;
    };

/** What is found for a reference. A failure's message is complete, in AWS's words. */
export type DynamicValue =
  | { readonly kind: "value"; readonly value: string }
  | { readonly kind: "failed"; readonly message: string };

/** A text with every reference written out, or why that can't be. */
export type DynamicResolution =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "failed"; readonly message: string };

const pattern = /\{\{resolve:([^{}]*)\}\}/g;

/** The references in a value, each once, at any depth; and why any of them is none. */
export function dynamicReferencesIn(value: Value): {
  readonly references: readonly DynamicReference[];
  readonly faults: readonly string[];
} {
  const references = new Map<string, DynamicReference>();
  const faults = new Set<string>();
  visitTexts(value, (text) => {
    for (const match of text.matchAll(pattern)) {
      const parsed = parseDynamicReference(match[0]);
      if (typeof parsed === "string") faults.add(parsed);
      else references.set(parsed.text, parsed);
    }
  });
  return { references: [...references.values()], faults: [...faults] };
}

/** A reference of its whole text; a message in AWS's words when it is malformed. */
export function parseDynamicReference(text: string): DynamicReference | string {
  const inner = /^\{\{resolve:([^{}:]+):([^{}]*)\}\}$/.exec(text);
  const [, service = "", key = ""] = inner ?? [];
  if (service === "ssm" || service === "ssm-secure") return parseSsm(service, key, text);
  if (service === "secretsmanager") return parseSecret(key, text);
  return `Dynamic reference service is not supported: [${text}]`;
}

function parseSsm(service: "ssm" | "ssm-secure", key: string, text: string): DynamicReference | string {
  const parts = /^([a-zA-Z0-9_.\-/]+)(?::([0-9]+))?$/.exec(key);
  if (parts === null) return `Incorrect format is used in the following SSM reference: [${text}]`;
  const [, name = "", version] = parts;
  return { service, text, name, ...(version !== undefined && { version: Number(version) }) };
}

// secret-id:SecretString:json-key:version-stage:version-id, where the id may be an ARN, which has colons itself.
const secretKey =
  /^(arn:[^:]*:[^:]*:[^:]*:[^:]*:[^:]*:[^:]+|[^:]+)(?::(?:SecretString)?(?::([^:]*))?(?::([^:]*))?(?::([^:]*))?)?$/;

function parseSecret(key: string, text: string): DynamicReference | string {
  const [, secretId, jsonKey, versionStage, versionId] = secretKey.exec(key) ?? [];
  if (secretId === undefined || (versionStage && versionId)) {
    return `Incorrect format is used in the following Secrets Manager reference: [${text}]`;
  }
  return {
    service: "secretsmanager",
    text,
    secretId,
    ...(jsonKey && { jsonKey }),
    ...(versionStage && { versionStage }),
    ...(versionId && { versionId }),
  };
}

/** The value with every reference written out. `lookup` is asked once for each place where a reference stands. */
export function resolveDynamicReferences(
  value: Value,
  lookup: (reference: DynamicReference) => DynamicValue,
): DynamicResolution {
  const failures: string[] = [];
  const resolved = replaceTexts(value, (text) => resolveText(text, lookup, failures));
  const [message] = failures;
  return message === undefined ? { kind: "value", value: resolved } : { kind: "failed", message };
}

function resolveText(
  text: string,
  lookup: (reference: DynamicReference) => DynamicValue,
  failures: string[],
): Value {
  if (!text.includes("{{resolve:")) return text;
  let secret = false;
  const written = text.replace(pattern, (whole) => {
    const reference = parseDynamicReference(whole);
    const found: DynamicValue =
      typeof reference === "string" ? { kind: "failed", message: reference } : lookup(reference);
    if (found.kind === "failed") {
      failures.push(found.message);
      return "";
    }
    secret ||= typeof reference !== "string" && reference.service !== "ssm";
    return found.value;
  });
  return secret ? new Sensitive(written) : written;
}

/** The value of a secret's JSON key, as AWS finds it. */
export function secretPart(secret: string, jsonKey: string | undefined): DynamicValue {
  if (jsonKey === undefined) return { kind: "value", value: secret };
  const value = readKey(secret, jsonKey);
  if (value === undefined)
    return { kind: "failed", message: "Could not find a value associated with JSONKey in SecretString" };
  return { kind: "value", value };
}

function readKey(secret: string, key: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(secret);
    if (typeof parsed !== "object" || parsed === null || !Object.hasOwn(parsed, key)) return undefined;
    const value: unknown = Reflect.get(parsed, key);
    return typeof value === "string" ? value : JSON.stringify(value);
  } catch {
    // A secret that is no JSON has no keys.
    return undefined;
  }
}

/** Where CloudFormation takes `ssm-secure`. Source: "SSM secure dynamic references", the list of resources. */
const securePlaces: ReadonlySet<string> = new Set([
  "AWS::DirectoryService::MicrosoftAD/Properties/Password",
  "AWS::DirectoryService::SimpleAD/Properties/Password",
  "AWS::ElastiCache::ReplicationGroup/Properties/AuthToken",
  "AWS::IAM::User/Properties/LoginProfile/Password",
  "AWS::KinesisFirehose::DeliveryStream/Properties/RedshiftDestinationConfiguration/Password",
  "AWS::OpsWorks::App/Properties/AppSource/Password",
  "AWS::OpsWorks::Stack/Properties/CustomCookbooksSource/Password",
  "AWS::OpsWorks::Stack/Properties/RdsDbInstances/DbPassword",
  "AWS::RDS::DBCluster/Properties/MasterUserPassword",
  "AWS::RDS::DBInstance/Properties/MasterUserPassword",
  "AWS::Redshift::Cluster/Properties/MasterUserPassword",
]);

/** Why a resource of that type may not have these properties; undefined when it may. */
export function refusedSecureReferences(type: string, properties: Value): string | undefined {
  const refused: string[] = [];
  visitPaths(properties, `${type}/Properties`, (text, path) => {
    if (refusedSecurePlace(text, path)) refused.push(path);
  });
  return refused.length === 0
    ? undefined
    : `SSM Secure reference is not supported in: [${refused.join(",")}]`;
}

/** May this text not stand there? `place` is e.g. `AWS::IAM::User/Properties/LoginProfile/Password`. */
export function refusedSecurePlace(text: string, place: string): boolean {
  return text.includes("{{resolve:ssm-secure:") && !securePlaces.has(place);
}

function visitTexts(value: Value, visit: (text: string) => void): void {
  visitPaths(value, "", visit);
}

/** Lists have no index in the path: CloudFormation names the property only. */
function visitPaths(value: Value, path: string, visit: (text: string, path: string) => void): void {
  if (typeof value === "string") visit(value, path);
  else if (value instanceof Sensitive) visitPaths(value.reveal(), path, visit);
  else if (isValueList(value)) for (const item of value) visitPaths(item, path, visit);
  else if (isValueMap(value))
    for (const [key, item] of Object.entries(value)) visitPaths(item, `${path}/${key}`, visit);
}

function replaceTexts(value: Value, replace: (text: string) => Value): Value {
  if (typeof value === "string") return replace(value);
  if (value instanceof Sensitive) {
    const inner = replaceTexts(value.reveal(), replace);
    return inner instanceof Sensitive ? inner : new Sensitive(inner);
  }
  if (isValueList(value)) return value.map((item) => replaceTexts(item, replace));
  if (!isValueMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceTexts(item, replace)]));
}

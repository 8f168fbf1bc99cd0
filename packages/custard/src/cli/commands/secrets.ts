import { SecretError } from "../../services/secret-error.ts";
import type { SecretDescription } from "../../services/secrets.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import type { ExitCode } from "../fault.ts";
import { actionOf, fileOption, givenValue, needed } from "../given-value.ts";
import { writeJson } from "../read-stacks.ts";
import { formatTable } from "../table.ts";
import { scopeOfCall, withServices } from "../with-services.ts";

export const secrets: Command = {
  name: "secrets",
  summary: "put, list or delete secrets",
  details:
    "Works on the local Secrets Manager, where {{resolve:secretsmanager:…}}, AWS::SecretsManager::Secret and functions find " +
    "their secrets. put makes a secret, or a new version of one: the version before is AWSPREVIOUS from then on. A value that is a " +
    "JSON object has keys that references can name. What secrets hold is never shown.",
  arguments: [
    { name: "ACTION", description: "put, list or delete", required: true },
    { name: "NAME", description: "name or ARN of the secret", required: false },
    { name: "VALUE", description: "value to put", required: false },
  ],
  options: [
    fileOption,
    sharedOptions.state,
    { flags: "--region <region>", description: "region of the secret (default: us-east-1)" },
    { flags: "--account <id>", description: "account of the secret, 12 digits" },
    sharedOptions.json,
  ],
  examples: [
    `custard secrets put app/db '{"user":"admin","password":"…"}'`,
    "custard secrets put app/key --file key.txt",
    "custard secrets list",
  ],
  run: runSecrets,
};

const actions = ["put", "list", "delete"] as const;

async function runSecrets(call: Call): Promise<ExitCode> {
  switch (actionOf(call, actions)) {
    case "put":
      return await put(call);
    case "list":
      return await list(call);
    case "delete":
      return await remove(call);
  }
}

async function put(call: Call): Promise<ExitCode> {
  const name = needed(call, "NAME", "put");
  const content = { text: await givenValue(call) };
  const scope = scopeOfCall(call);
  const made = await withServices(call, async ({ secrets: store }) => {
    const exists = await store.describe(scope, name).then(() => true, isMissing);
    if (exists) await store.put(scope, name, { content });
    else await store.create(scope, { name, content });
    return await store.describe(scope, name);
  });
  if (call.json) writeJson(call, toJson(made));
  else call.io.stdout.write(`${made.name} is ${made.arn}.\n`);
  return 0;
}

async function list(call: Call): Promise<ExitCode> {
  const found = await withServices(call, ({ secrets: store }) => store.list(scopeOfCall(call)));
  if (call.json) writeJson(call, found.map(toJson));
  else call.io.stdout.write(`${formatSecrets(found)}\n`);
  return 0;
}

async function remove(call: Call): Promise<ExitCode> {
  const name = needed(call, "NAME", "delete");
  await withServices(call, ({ secrets: store }) => store.delete(scopeOfCall(call), name, { force: true }));
  if (call.json) writeJson(call, { name, deleted: true });
  else call.io.stdout.write(`${name} is deleted.\n`);
  return 0;
}

function isMissing(error: unknown): false {
  if (error instanceof SecretError && error.code === "ResourceNotFoundException") return false;
  throw error;
}

function formatSecrets(found: readonly SecretDescription[]): string {
  if (found.length === 0) return "There are no secrets here.";
  const rows = found.map(({ name, versions, arn }) => [name, String(versions.length), arn]);
  return formatTable([["NAME", "VERSIONS", "ARN"], ...rows]).join("\n");
}

function toJson({ name, arn, changedAt, versions }: SecretDescription): object {
  return { name, arn, versions: versions.length, changedAt: new Date(changedAt).toISOString() };
}

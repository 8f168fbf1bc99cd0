import { expect, test } from "vitest";
import { createTask } from "../../../../tests/support/resource-task.ts";
import { resourceWorld } from "../../../../tests/support/resource-world.ts";
import type { LogicalId, PhysicalId } from "../engine/ids.ts";
import type { ResourceTask } from "../engine/ports.ts";
import type { ValueMap } from "../template/value.ts";

const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };
const named = { Name: "app/db" };
const generate = {
  GenerateSecretString: {
    SecretStringTemplate: '{"username":"admin"}',
    GenerateStringKey: "password",
    PasswordLength: "20",
    ExcludePunctuation: true,
  },
};

function secretTask(properties: ValueMap, more: Partial<ResourceTask> = {}): ResourceTask {
  return createTask("AWS::SecretsManager::Secret", { properties, ...more });
}

function start() {
  const { perform, ...world } = resourceWorld();
  return {
    ...world,
    perform,
    made: async (task: ResourceTask) => {
      const outcome = await perform(task);
      if (outcome.kind === "failed") throw new Error(outcome.reason);
      return outcome;
    },
    text: async (id: string, stage?: string) => {
      const { content } = await world.secrets.value(scope, id, { stage });
      return "text" in content ? content.text : undefined;
    },
  };
}

test("a secret is known by its ARN and holds the template's value", async () => {
  const { made, text, documents } = start();
  const { physicalId, attributes } = await made(secretTask({ ...named, SecretString: "s3cret" }));
  expect(physicalId).toMatch(/^arn:aws:secretsmanager:us-east-1:123456789012:secret:app\/db-\w{6}$/);
  expect(attributes).toEqual({ Id: physicalId });
  expect(await text("app/db")).toBe("s3cret");
  expect(JSON.stringify(await documents.list("resource/"))).not.toContain("s3cret");
});

test("a generated password stands in the template's JSON, and stays when nothing about it changes", async () => {
  const { made, text } = start();
  const task = secretTask({ ...named, ...generate });
  const { physicalId } = await made(task);
  const first = (await text("app/db")) ?? "";
  expect(JSON.parse(first)).toEqual({
    username: "admin",
    password: expect.stringMatching(/^[A-Za-z0-9]{20}$/),
  });
  expect((await made(task)).physicalId).toBe(physicalId);
  expect(await text("app/db")).toBe(first);
  const before = { action: "update", physicalId, oldProperties: task.properties } as const;
  await made(secretTask({ ...named, ...generate, Description: "d" }, { ...before, token: "update-1" }));
  expect(await text("app/db")).toBe(first);
  const changed = secretTask(
    { ...named, GenerateSecretString: { PasswordLength: 10 } },
    { ...before, token: "update-2" },
  );
  await made(changed);
  const second = await text("app/db");
  expect(second).toHaveLength(10);
  expect(await text("app/db", "AWSPREVIOUS")).toBe(first);
  await made(changed);
  expect(await text("app/db")).toBe(second);
});

test("a deleted secret is gone at once, and its name is free", async () => {
  const { made, secrets } = start();
  const { physicalId } = await made(secretTask({ ...named, SecretString: "1" }));
  const deletion = secretTask(named, { action: "delete", physicalId, token: "delete-1" });
  await made(deletion);
  await expect(secrets.describe(scope, "app/db")).rejects.toMatchObject({
    code: "ResourceNotFoundException",
  });
  await made(deletion);
  await made(secretTask({ ...named, SecretString: "2" }, { token: "create-2" }));
});

test("a name in use is refused", async () => {
  const { made, perform } = start();
  await made(secretTask(named));
  const other = secretTask(named, { logicalId: "Other" as LogicalId, token: "create-2" });
  expect(await perform(other)).toEqual({ kind: "failed", reason: "app/db already exists" });
});

test.each<{ title: string; properties: ValueMap; reason: RegExp }>([
  {
    title: "both kinds of value",
    properties: { SecretString: "x", ...generate },
    reason: /both SecretString and GenerateSecretString/,
  },
  {
    title: "a template without a key",
    properties: { GenerateSecretString: { SecretStringTemplate: "{}" } },
    reason: /GenerateStringKey/,
  },
  {
    title: "a template that is no JSON",
    properties: { GenerateSecretString: { SecretStringTemplate: "{", GenerateStringKey: "k" } },
    reason: /^Could not parse SecretStringTemplate JSON object\.$/,
  },
  {
    title: "an impossible name",
    properties: { Name: "a b" },
    reason: /"Invalid name\. .*\(Service: SecretsManager, Status Code: 400/,
  },
  {
    title: "a password of no length",
    properties: { GenerateSecretString: { PasswordLength: 0 } },
    reason: /passwordLength/,
  },
])("$title fails the resource", async ({ properties, reason }) => {
  expect(await resourceWorld().perform(secretTask(properties))).toEqual({
    kind: "failed",
    reason: expect.stringMatching(reason),
  });
});

test("a secret of another stack isn't deleted with a resource that never had it", async () => {
  const { made, secrets } = start();
  const { physicalId } = await made(secretTask({ ...named, SecretString: "1" }));
  await made(
    secretTask(named, {
      action: "delete",
      logicalId: "Other" as LogicalId,
      physicalId: physicalId as PhysicalId,
      token: "delete-2",
    }),
  );
  await expect(secrets.describe(scope, "app/db")).resolves.toBeDefined();
});

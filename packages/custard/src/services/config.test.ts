import { expect, test } from "vitest";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { ConfigError, emptyConfig, parseConfig } from "./config.ts";
import { ConfigStore } from "./config-store.ts";
import { ParameterStore } from "./parameters.ts";
import { SecretStore } from "./secrets.ts";

const scope = { partition: "aws", account: "123456789012", region: "us-east-1" };

test("a configuration is read with its paths made absolute", () => {
  expect(
    parseConfig(
      {
        resources: {
          types: { "AWS::EC2::VPC": { physicalId: "vpc-1", attributes: { CidrBlock: "10.1.0.0/16" } } },
          logicalIds: { Net: { physicalId: 7 } },
        },
        parameters: { "/app/size": "small", "/app/count": 3, pass: { type: "SecureString", value: "x" } },
        secrets: { db: { user: "me" }, key: "text" },
        functions: { Fn: "src/fn.ts", Abs: "/abs.py" },
        runtimes: { "python3.7": "python3.13" },
        python: "venv/bin/python",
      },
      "/project",
    ),
  ).toEqual({
    resources: {
      types: { "AWS::EC2::VPC": { physicalId: "vpc-1", attributes: { CidrBlock: "10.1.0.0/16" } } },
      logicalIds: { Net: { physicalId: "7", attributes: {} } },
    },
    parameters: {
      "/app/size": { type: "String", value: "small" },
      "/app/count": { type: "String", value: "3" },
      pass: { type: "SecureString", value: "x" },
    },
    secrets: { db: '{"user":"me"}', key: "text" },
    functions: { Fn: "/project/src/fn.ts", Abs: "/abs.py" },
    runtimes: { "python3.7": "python3.13" },
    python: "/project/venv/bin/python",
  });
  expect(parseConfig(undefined, "/project")).toEqual(emptyConfig);
});

test.each([
  { value: { resorces: {} }, fault: "resorces is no key: there are resources, parameters" },
  { value: [], fault: "the configuration must be an object" },
  { value: { resources: { type: {} } }, fault: "resources.type is no key: there are types, logicalIds" },
  {
    value: { resources: { types: { A: { id: "x" } } } },
    fault: "resources.types.A.id is no key: there are physicalId, attributes",
  },
  { value: { parameters: { a: { typ: "String" } } }, fault: "parameters.a.typ is no key" },
  { value: { parameters: { a: { type: "Number", value: "1" } } }, fault: "parameters.a.type must be one of" },
  { value: { parameters: { a: { type: "String" } } }, fault: "parameters.a.value must be a text" },
  { value: { functions: { a: {} } }, fault: "functions.a must be a text" },
  { value: { resources: { types: { A: { attributes: 1 } } } }, fault: "attributes must be an object" },
  {
    value: { runtimes: { "python3.7": "python4" } },
    fault: "runtimes.python3.7 must be one of nodejs18.x, ",
  },
  { value: { secrets: { a: 1 } }, fault: "secrets.a must be a text or an object" },
])("$value is refused: $fault", ({ value, fault }) => {
  expect(() => parseConfig(value, "/project")).toThrow(ConfigError);
  expect(() => parseConfig(value, "/project")).toThrow(fault);
});

test("faults don't repeat what is secret", () => {
  const secret = { secrets: { a: 4711 }, parameters: { b: { type: "s3cret", value: ["s3cret"] } } };
  const message = (() => {
    try {
      parseConfig(secret, "/");
      return "";
    } catch (error) {
      return String(error);
    }
  })();
  expect(message).toContain("secrets.a");
  expect(message).not.toMatch(/4711|s3cret/);
});

function start() {
  const documents = new MemoryDocuments();
  const stores = { parameters: new ParameterStore(documents), secrets: new SecretStore(documents) };
  return { documents, ...stores, store: () => new ConfigStore(documents, stores) };
}

test("what was configured last holds later too, for whoever opens the directory", async () => {
  const { store } = start();
  const given = { physicalId: "vpc-1", attributes: {} };
  const config = {
    ...emptyConfig,
    resources: { types: { "AWS::EC2::VPC": given }, logicalIds: { Net: { attributes: { A: "b" } } } },
    functions: { Fn: "/fn.ts" },
  };
  await store().apply(config, scope);
  expect(await store().resource("AWS::EC2::VPC", "Other")).toEqual(given);
  expect(await store().resource("AWS::EC2::VPC", "Net")).toEqual({ attributes: { A: "b" } });
  expect(await store().functionSource("Fn")).toBe("/fn.ts");
  await store().apply(emptyConfig, scope);
  expect(await store().resource("AWS::EC2::VPC", "Net")).toBeUndefined();
});

test("seeds are put once, and again when the configuration says something new", async () => {
  const { store, parameters, secrets, documents } = start();
  const seeded = (value: string) => ({
    ...emptyConfig,
    parameters: { a: { type: "String" as const, value } },
    secrets: { s: value },
  });
  const values = async () => [
    (await parameters.get(scope, "a")).value,
    (await secrets.value(scope, "s")).content,
  ];
  await store().apply(seeded("1"), scope);
  expect(await values()).toEqual(["1", { text: "1" }]);
  await parameters.put(scope, { name: "a", value: "mine", overwrite: true });
  await secrets.put(scope, "s", { content: { text: "mine" } });
  await store().apply(seeded("1"), scope);
  expect(await values()).toEqual(["mine", { text: "mine" }]);
  await store().apply(seeded("2"), scope);
  expect(await values()).toEqual(["2", { text: "2" }]);
  await parameters.delete(scope, "a");
  await store().apply(seeded("2"), scope);
  expect(await values()).toEqual(["2", { text: "2" }]);
  await store().apply(seeded("s3cret"), scope);
  const elsewhere = (await documents.list("")).filter(
    ({ key }) => !/^(?:parameter|secret-value)\//.test(key),
  );
  expect(JSON.stringify(elsewhere)).not.toContain("s3cret");
});

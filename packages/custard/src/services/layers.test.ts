import { strToU8, zipSync } from "fflate";
import { expect, test } from "vitest";
import { MemoryDocuments } from "../storage/memory-documents.ts";
import { FunctionRegistry } from "./functions.ts";
import { LayerRegistry } from "./layers.ts";

const scope = { partition: "aws", account: "123456789012", region: "eu-west-1" };
const arn = "arn:aws:lambda:eu-west-1:123456789012:layer:tools";
const tools = { ...scope, name: "tools" };
const bytes = zipSync({ "nodejs/node_modules/a/index.js": strToU8("1") });
const code = { kind: "zip" as const, bytes };

test("versions count up, also past deleted ones; a repeated call makes no second one", async () => {
  const layers = new LayerRegistry(new MemoryDocuments());
  expect(await layers.publish(tools, { code, token: "t1" })).toMatchObject({
    arn: `${arn}:1`,
    version: 1,
  });
  expect(await layers.publish(tools, { code, token: "t1" })).toMatchObject({ version: 1 });
  await layers.delete({ ...tools, version: 1 });
  const second = await layers.publish(tools, { code, token: "t2" });
  expect(second.version).toBe(2);
  expect(await layers.codeBytes(second.code)).toEqual(bytes);
  await expect(layers.resolve(`${arn}:1`)).rejects.toThrow(`Layer version ${arn}:1 does not exist.`);
});

test("a function can't use a layer that isn't there", async () => {
  const functions = new FunctionRegistry(new MemoryDocuments());
  const settings = { runtime: "nodejs20.x", handler: "index.handler", layers: [`${arn}:1`] };
  const made = functions.create(scope, { name: "f", code: { kind: "inline", source: "" }, settings });
  await expect(made).rejects.toThrow(`Layer version ${arn}:1 does not exist.`);
});

test("what is no zip is refused", async () => {
  const layers = new LayerRegistry(new MemoryDocuments());
  await expect(layers.publish(tools, { code: { kind: "zip", bytes: strToU8("no") } })).rejects.toThrow(
    "Could not unzip uploaded file.",
  );
});

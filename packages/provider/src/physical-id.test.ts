import { expect, test } from "vitest";
import { defaultPhysicalId, isInvented, isTombstone, tombstone } from "./physical-id.ts";

const identity = {
  stackId: "arn:aws:cloudformation:us-east-1:1:stack/my-stack/guid",
  requestId: "r-1",
  logicalId: "Topic",
};

test("a generated id is the same for the same request, and another one for another", async () => {
  const id = await defaultPhysicalId(identity, "r-1");
  expect(id).toMatch(/^Topic-[a-z2-7]{12}$/u);
  expect(await defaultPhysicalId(identity, "r-1")).toBe(id);
  expect(await defaultPhysicalId(identity, "r-2")).not.toBe(id);
  expect(await defaultPhysicalId({ ...identity, stackId: `${identity.stackId}2` }, "r-1")).not.toBe(id);
});

test("a tombstone is recognised, and says so", async () => {
  const id = await tombstone(identity);
  expect(id).toMatch(/^never-created:Topic-[a-z2-7]{12}$/u);
  expect(isTombstone(id)).toBe(true);
  expect(isTombstone("topic-1")).toBe(false);
});

test.each([
  { id: "my-stack-Topic-O95385LWRHB6", invented: true },
  { id: "my-stack-Topic-1ABCDEFGHIJ23", invented: true },
  { id: "my-stack-Topic-abcdefghijkl", invented: false },
  { id: "my-stack-Other-O95385LWRHB6", invented: false },
  { id: "Topic-abcdefghijkl", invented: false },
])("$id: made up by CloudFormation? $invented", ({ id, invented }) => {
  expect(isInvented(id, identity)).toBe(invented);
});

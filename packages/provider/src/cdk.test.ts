import { expect, test } from "vitest";
import { z } from "zod";
import { cdkHandlers } from "./cdk.ts";
import { defineResource } from "./define-resource.ts";

const logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const context = { getRemainingTimeInMillis: () => 60_000 };
const event = {
  RequestType: "Create",
  ResponseURL: "https://bucket.invalid/never-used",
  StackId: "arn:aws:cloudformation:us-east-1:1:stack/s/g",
  RequestId: "r-1",
  LogicalResourceId: "Thing",
  ResourceType: "Custom::Thing",
  ResourceProperties: { ServiceToken: "x", Size: "3" },
};

let polls = 0;
const handlers = cdkHandlers(
  defineResource({
    type: "Custom::Thing",
    properties: z.object({ Size: z.number() }),
    attributes: z.object({ Area: z.number(), Key: z.string() }),
    sensitive: ["Key"],
    async create({ properties, ctx }) {
      if (properties.Size > 5) return ctx.pending({ job: 1 });
      if (properties.Size === 0) throw new Error("no size");
      return { id: "thing-1", attributes: { Area: properties.Size ** 2, Key: "k3y" } };
    },
    poll: async ({ state, ctx }) => ((polls += 1) < 2 ? ctx.pending(state) : { Area: state.job, Key: "k3y" }),
    delete: async () => undefined,
  }),
  { logger },
);

test("onEvent returns what the framework answers with", async () => {
  expect(await handlers.onEvent(event, context)).toEqual({
    PhysicalResourceId: "thing-1",
    Data: { Area: 9, Key: "k3y" },
    NoEcho: true,
  });
});

test("a failure is thrown", async () => {
  const failing = { ...event, RequestId: "r-2", ResourceProperties: { Size: "0" } };
  await expect(handlers.onEvent(failing, context)).rejects.toThrow("no size (in create)");
});

test("pending work goes on in isComplete", async () => {
  const pending = { ...event, RequestId: "r-3", ResourceProperties: { Size: "6" } };
  const begun = await handlers.onEvent(pending, context);
  expect(begun).toMatchObject({ PhysicalResourceId: expect.stringMatching(/^Thing-/u) as string });
  const asked = { ...pending, ...begun };
  expect(await handlers.isComplete(asked, context)).toEqual({ IsComplete: false });
  expect(await handlers.isComplete(asked, context)).toEqual({
    IsComplete: true,
    Data: { Area: 1, Key: "k3y" },
  });
});

test("what is done is complete", async () => {
  expect(await handlers.isComplete({ ...event, PhysicalResourceId: "thing-1" }, context)).toEqual({
    IsComplete: true,
  });
});

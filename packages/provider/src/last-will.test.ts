import { expect, test } from "vitest";
import { lastWillHandler } from "./last-will.ts";
import type { JsonObject } from "./protocol/json.ts";

const context = { getRemainingTimeInMillis: () => 60_000 };
const request = {
  RequestType: "Update",
  ResponseURL: "https://bucket.test/key",
  StackId: "s",
  RequestId: "r",
  LogicalResourceId: "Thing",
  PhysicalResourceId: "thing-1",
  ResourceProperties: {},
};

function executor() {
  const answers: JsonObject[] = [];
  const handler = lastWillHandler({
    write: () => undefined,
    transport: async (_url, body) => {
      answers.push(JSON.parse(Buffer.from(body).toString()) as JsonObject);
      return { status: 200, body: "" };
    },
  });
  return { answers, handler };
}

test("an on-failure destination answers for the dead, with Lambda's words", async () => {
  const { answers, handler } = executor();
  const requestContext = { condition: "RetriesExhausted" };
  const responsePayload = { errorMessage: "RequestId: x Error: Runtime exited with error: signal: killed" };
  await handler({ requestContext, requestPayload: request, responsePayload }, context);
  expect(answers).toMatchObject([{ Status: "FAILED", PhysicalResourceId: "thing-1" }]);
  expect(JSON.stringify(answers)).toContain("RetriesExhausted: RequestId: x Error: Runtime exited");
});

test("a dead letter queue, too; a Create gets an id that stands for nothing", async () => {
  const { answers, handler } = executor();
  const { PhysicalResourceId: _none, ...create } = { ...request, RequestType: "Create" };
  const messageAttributes = { ErrorMessage: { stringValue: "Task timed out after 3.00 seconds" } };
  await handler({ Records: [{ body: JSON.stringify(create), messageAttributes }] }, context);
  expect(answers).toMatchObject([
    { Status: "FAILED", PhysicalResourceId: expect.stringMatching(/^never-created:/u) as string },
  ]);
});

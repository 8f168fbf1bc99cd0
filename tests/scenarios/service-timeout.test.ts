import { expect, test } from "vitest";
import { bodyFor, custom, scenario } from "../support/scenario.ts";

test("silence lasts an hour for each request: a silent provider takes two (facts 44, 46, 48, 63)", async () => {
  const s = scenario({ Create: "silence", Delete: "silence" });
  const start = s.world.clock.now();
  const stack = await s.create({ Resources: { A: custom() } });
  expect(await s.events()).toMatchInlineSnapshot(`
    [
      "my-stack CREATE_IN_PROGRESS User Initiated",
      "A CREATE_IN_PROGRESS",
      "A CREATE_FAILED (my-stack-A-<random>) CloudFormation did not receive a response from your Custom Resource. Please check your logs for requestId [<RequestId>]. If you are using the Python cfn-response module, you may need to update your Lambda function code so that CloudFormation can attach the updated version.",
      "my-stack ROLLBACK_IN_PROGRESS The following resource(s) failed to create: [A]. Rollback requested by user.",
      "A DELETE_IN_PROGRESS (my-stack-A-<random>)",
      "A DELETE_FAILED (my-stack-A-<random>) CloudFormation did not receive a response from your Custom Resource. Please check your logs for requestId [<RequestId>]. If you are using the Python cfn-response module, you may need to update your Lambda function code so that CloudFormation can attach the updated version.",
      "my-stack ROLLBACK_FAILED The following resource(s) failed to delete: [A]. ",
    ]
  `);
  expect(s.requests()).toEqual(["Create A {}", "Delete A (my-stack-A-<random>) {}"]);
  expect(stack.status).toBe("ROLLBACK_FAILED");
  expect(s.world.clock.now() - start).toBe(2 * 3_600_000);
});

test("the reason names the request that wasn't answered (fact 44)", async () => {
  const s = scenario({ Create: "silence" });
  await s.create({ Resources: { A: custom({ ServiceTimeout: 1 }) } });
  const failed = (await s.rawEvents()).find(({ status }) => status === "CREATE_FAILED");
  expect(failed?.reason).toContain(
    `Please check your logs for requestId [${s.request("Create").requestId}].`,
  );
});

test.each([
  { timeout: 1, seconds: 1 },
  { timeout: "30", seconds: 30 },
  { timeout: 3600, seconds: 3600 },
])("ServiceTimeout $timeout waits $seconds s (fact 47)", async ({ timeout, seconds }) => {
  const s = scenario({ Create: "silence" });
  const start = s.world.clock.now();
  await s.create({ Resources: { A: custom({ ServiceTimeout: timeout }) } });
  expect((s.world.clock.now() - start) / 1000).toBe(seconds);
});

test.each([0, 3601, -1, 1.5, "soon", ""])(
  "ServiceTimeout %j fails the resource before anything is sent (fact 47)",
  async (timeout) => {
    const s = scenario();
    const stack = await s.create({ Resources: { A: custom({ ServiceTimeout: timeout }) } });
    expect(stack.status).toBe("ROLLBACK_COMPLETE");
    expect((await s.events())[2]).toMatch(
      /^A CREATE_FAILED Property validation failure: \[ServiceTimeout must be/,
    );
    expect(s.requests()).toEqual([]);
  },
);

test("an answer in the last moment counts, one at the deadline's side of it doesn't (facts 46, 48)", async () => {
  const s = scenario({ Create: "silence", Delete: "silence" });
  await s.begin({ Resources: { A: custom({ ServiceTimeout: 10 }) } });
  s.world.clock.advance(9_999);
  await s.world.respond(s.request(), bodyFor(s.request()));
  expect((await s.settle()).status).toBe("CREATE_COMPLETE");
});

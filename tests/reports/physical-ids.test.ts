import { expect, test } from "vitest";
import { author, showing } from "./support.ts";

// Public reports of physical ids that changed. Each test has the report's small input, in our words.

const id = { Id: { Value: { Ref: "Thing" } } };

/** Answers with what `answer` gives of the event, by the module that AWS gives to inline code. */
const answering = (answer: string) => `const response = require("cfn-response");
exports.handler = (event, context) => {
  ${showing.javascript}
  const { status = "SUCCESS", data = {}, id } = (${answer})(event);
  response.send(event, context, status, data, id);
};
`;

test("B12: an update is followed by a Delete, since the id is the name of a log stream", async () => {
  const { deploy, requests } = author();
  const code = answering("() => ({})");
  const created = await deploy({ code, properties: { Size: "1" }, outputs: id });
  expect(created.text).toContain("Note: Thing has the name of a log stream as its physical id");
  // Another process of the function, as after some minutes on AWS.
  const updated = await deploy({ code: `${code}// again\n`, properties: { Size: "2" }, outputs: id });
  expect(updated.events).toContain("Thing DELETE_COMPLETE");
  expect(updated.text).toMatch(
    /Note: Thing was replaced, since its provider answered Update with another physical id \(.*\), and Delete was sent for the old one\./,
  );
  const [create, update, remove] = await requests();
  expect([create?.RequestType, update?.RequestType, remove?.RequestType]).toEqual([
    "Create",
    "Update",
    "Delete",
  ]);
  expect(remove?.PhysicalResourceId).toBe(update?.PhysicalResourceId);
});

test("B13, B14: an id of its own for each call deletes what was just updated; a policy in that update retains it", async () => {
  const code = answering("() => ({ id: require('crypto').randomUUID() })");
  const { deploy, requests } = author();
  await deploy({ code, properties: { Size: "1" } });
  const replaced = await deploy({ code, properties: { Size: "2" } });
  expect(replaced.text).toContain("Note: Thing was replaced");
  expect((await requests()).map(({ RequestType }) => RequestType)).toEqual(["Create", "Update", "Delete"]);
  const retained = await deploy({
    code,
    properties: { Size: "3" },
    attributes: { UpdateReplacePolicy: "Retain" },
  });
  expect(retained.events).toContain("Thing DELETE_SKIPPED");
  expect(retained.text).toContain("; the old one is kept.");
  expect((await requests()).at(-1)?.RequestType).toBe("Update");
});

test("B15: the id of a FAILED Update is the one that the next request names", async () => {
  const code = answering(
    "(event) => event.ResourceProperties.Size === '2' ? { status: 'FAILED', id: 'of-the-failure' } : { id: 'thing' }",
  );
  const { deploy, requests } = author();
  await deploy({ code, properties: { Size: "1" } });
  const { code: exit, events } = await deploy({ code, properties: { Size: "2" } });
  expect(exit).toBe(1);
  expect(events).toContainEqual(
    expect.stringMatching(/^Thing UPDATE_FAILED Received response status \[FAILED\]/),
  );
  const after = (await requests()).slice(2);
  expect(after[0]).toMatchObject({ RequestType: "Update", PhysicalResourceId: "of-the-failure" });
});

test("B16: an empty id in a FAILED answer hides the reason; the provider's own is shown all the same", async () => {
  const { deploy, requests } = author();
  const { text, events } = await deploy({
    code: `exports.handler = async (event) => {
  ${showing.javascript}
  const { StackId, RequestId, LogicalResourceId } = event;
  const ids = { StackId, RequestId, LogicalResourceId };
  const failed = { ...ids, Status: "FAILED", PhysicalResourceId: "", Reason: "the quota is used up" };
  const body = event.RequestType === "Delete" ? { ...ids, Status: "SUCCESS", PhysicalResourceId: event.PhysicalResourceId } : failed;
  await fetch(event.ResponseURL, { method: "PUT", body: JSON.stringify(body), headers: { "content-type": "" } });
};
`,
  });
  expect(events).toContain("Thing CREATE_FAILED Invalid PhysicalResourceId");
  expect(text).toContain("FAILED ones too, needs a PhysicalResourceId of 1 to 1024 bytes");
  expect(text).toContain("What it wanted to say: the quota is used up");
  // CloudFormation makes an id up, and sends the Delete with it.
  const [, remove] = await requests();
  expect(remove).toMatchObject({ RequestType: "Delete", PhysicalResourceId: expect.stringMatching(/./) });
});

test("B17: an Update without an id is refused, though Create went well", async () => {
  const { deploy } = author();
  const code = `exports.handler = async (event) => {
  const { StackId, RequestId, LogicalResourceId, RequestType } = event;
  const id = RequestType === "Create" ? { PhysicalResourceId: "thing" } : {};
  const body = JSON.stringify({ Status: "SUCCESS", StackId, RequestId, LogicalResourceId, ...id });
  await fetch(event.ResponseURL, { method: "PUT", body, headers: { "content-type": "" } });
};
`;
  expect((await deploy({ code, properties: { Size: "1" } })).code).toBe(0);
  const { code: exit, text } = await deploy({ code, properties: { Size: "2" } });
  expect(exit).toBe(1);
  expect(text).toContain("Invalid PhysicalResourceId");
});

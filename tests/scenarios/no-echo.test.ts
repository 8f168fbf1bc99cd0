import { expect, test } from "vitest";
import { custom, scenario } from "../support/scenario.ts";

const secret = { "Fn::GetAtt": ["A", "Secret"] };

test("NoEcho hides Data from whoever looks, never from whoever uses it, nor in Metadata (fact 50)", async () => {
  const s = scenario({ "Create A": { answer: { NoEcho: true, Data: { Secret: "hunter2" } } } });
  const stack = await s.create({
    Resources: {
      A: custom(),
      B: custom({ Uses: secret, Text: { "Fn::Sub": "pw=${A.Secret}" } }, { Metadata: { Note: secret } }),
    },
    Outputs: { O: { Value: secret } },
  });
  expect(s.request("Create", "B").properties).toMatchObject({ Uses: "hunter2", Text: "pw=hunter2" });
  expect(stack.outputs).toEqual([{ name: "O", value: "*****" }]);
  const [a, b] = stack.resources;
  expect(a?.attributes).toEqual({ Secret: "*****" });
  expect(b?.properties).toMatchObject({ Uses: "*****", Text: "*****" });
  expect(b?.metadata).toEqual({ Note: "hunter2" });
  expect(JSON.stringify(await s.rawEvents())).not.toContain("hunter2");
});

test("NoEcho is off by default, and each answer decides anew (facts 32, 50, 57)", async () => {
  const s = scenario({
    "Create A": { answer: { NoEcho: true, Data: { Secret: "one" } } },
    "Update A": { answer: { Data: { Secret: "two" } } },
  });
  const Outputs = { O: { Value: secret } };
  await s.create({ Resources: { A: custom({ V: 1 }) }, Outputs });
  const stack = await s.update({ Resources: { A: custom({ V: 2 }) }, Outputs });
  expect(stack.outputs).toEqual([{ name: "O", value: "two" }]);
});

test("a changed secret is a changed property (fact 21)", async () => {
  const s = scenario({
    "Create A": { answer: { NoEcho: true, Data: { Secret: "one" } } },
    "Update A": { answer: { NoEcho: true, Data: { Secret: "two" } } },
  });
  await s.create({ Resources: { A: custom({ V: 1 }), B: custom({ Uses: secret }) } });
  s.requests();
  await s.update({ Resources: { A: custom({ V: 2 }), B: custom({ Uses: secret }) } });
  expect(s.requests()).toContain('Update B (B-1) {"Uses":"two"} was {"Uses":"one"}');
});

test("a NoEcho parameter shows in outputs and Metadata, where AWS shows it (fact 104)", async () => {
  const s = scenario();
  const stack = await s.create(
    {
      Parameters: { P: { Type: "String", NoEcho: true } },
      Resources: { A: custom({}, { Metadata: { Note: { Ref: "P" } } }) },
      Outputs: { O: { Value: { Ref: "P" } } },
    },
    { parameters: { P: "hunter2" } },
  );
  expect(stack.outputs).toEqual([{ name: "O", value: "hunter2" }]);
  expect(stack.resources[0]?.metadata).toEqual({ Note: "hunter2" });
});

test("the signature of a response URL in a provider's message shows in no event", async () => {
  const url = "https://b.s3.us-east-1.amazonaws.com/k?X-Amz-Expires=7200&X-Amz-Signature=0123abcd";
  const s = scenario({ "Create A": { answer: { Status: "FAILED", Reason: `PUT ${url} failed` } } });
  await s.create({ Resources: { A: custom() } });
  const events = JSON.stringify(await s.rawEvents());
  expect(events).toContain("X-Amz-Expires=7200&X-Amz-Signature=***** failed");
  expect(events).not.toContain("0123abcd");
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RequestType } from "./request.ts";
import { formatResponse, parseResponse, type ProviderResponse } from "./response.ts";

const ids = { StackId: "arn:aws:cloudformation:s", RequestId: "r-1", LogicalResourceId: "Greeting" };
const identity = { stackId: ids.StackId, requestId: ids.RequestId, logicalId: ids.LogicalResourceId };
const good = { Status: "SUCCESS", PhysicalResourceId: "id-1", ...ids };

function judge(body: unknown, requestType: RequestType = "Create") {
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return parseResponse(bytes, bytes.length, { ...identity, requestType });
}

describe("an answer", () => {
  test.each([
    { name: "the least of a success", body: good, response: { status: "SUCCESS", data: {}, noEcho: false } },
    {
      name: "data and NoEcho",
      body: { ...good, Data: { Arn: "a", List: [1, { b: null }] }, NoEcho: true },
      response: { data: { Arn: "a", List: [1, { b: null }] }, noEcho: true },
    },
    { name: "Data: null is no data", body: { ...good, Data: null }, response: { data: {} } },
    { name: "a reason with a success", body: { ...good, Reason: "fine" }, response: { reason: "fine" } },
    {
      name: "a failure",
      body: { ...good, Status: "FAILED", Reason: "quota" },
      response: { status: "FAILED", physicalId: "id-1", reason: "quota" },
    },
    {
      name: "a failure without a reason has an empty message",
      body: { ...good, Status: "FAILED" },
      response: { status: "FAILED", reason: "" },
    },
    {
      name: "a failure with Reason: null, too",
      body: { ...good, Status: "FAILED", Reason: null },
      response: { status: "FAILED", reason: "" },
    },
    {
      name: "a failure whose reason is an object keeps it",
      body: { ...good, Status: "FAILED", Reason: { code: 1 } },
      response: { status: "FAILED", reason: '{"code":1}' },
    },
    {
      name: "what a failure says in Data doesn't count",
      body: { ...good, Status: "FAILED", Reason: "quota", Data: 3, NoEcho: "yes" },
      response: { status: "FAILED", reason: "quota" },
    },
    { name: "unknown fields", body: { ...good, Extra: 1, data: 2 }, response: { data: {} } },
  ])("$name", ({ body, response }) => {
    expect(judge(body)).toMatchObject({ kind: "answer", response });
  });

  test("Data and NoEcho mean nothing on Delete, whatever they are", () => {
    const verdict = judge({ ...good, Data: [1], NoEcho: "yes" }, "Delete");
    expect(verdict).toMatchObject({ kind: "answer", response: { data: {}, noEcho: false } });
  });

  test("of a key that comes twice the last one counts", () => {
    const body = JSON.stringify(good).replace("{", '{"Status":"FAILED",');
    expect(judge(body)).toMatchObject({ response: { status: "SUCCESS" } });
  });

  test("__proto__ in Data is an attribute like any other", () => {
    const verdict = judge(JSON.stringify(good).replace("}", ',"Data":{"__proto__":{"x":1}}}'));
    expect(verdict).toMatchObject({ kind: "answer" });
    expect(JSON.stringify(verdict)).toContain('"data":{"__proto__":{"x":1}}');
    expect(Object.hasOwn(Object.prototype, "x")).toBe(false);
  });

  test("__proto__ can't smuggle fields in", () => {
    expect(judge(`{"__proto__":${JSON.stringify(good)}}`)).toMatchObject({ fault: "NoStatus" });
  });
});

describe("a malformed body", () => {
  const invalid = "Invalid Response object: ";
  const bytes = Buffer.from(JSON.stringify(good));
  test.each([
    { name: "empty", body: "", fault: "NotJson", reason: `${invalid}it is not valid JSON: it is empty` },
    {
      name: "no JSON",
      body: "Status=SUCCESS",
      fault: "NotJson",
      reason: `${invalid}it is not valid JSON: it can't be parsed`,
    },
    {
      name: "cut short",
      body: bytes.subarray(0, -4),
      fault: "NotJson",
      reason: `${invalid}it is not valid JSON: it ends too early (is Content-Length counted in characters instead of bytes?)`,
    },
    {
      name: "a byte order mark",
      body: `\uFEFF${JSON.stringify(good)}`,
      fault: "NotJson",
      reason: `${invalid}it is not valid JSON: it starts with a byte order mark`,
    },
    {
      name: "Latin-1",
      body: Buffer.from(JSON.stringify({ ...good, Reason: "\u00fc" }), "latin1"),
      fault: "NotJson",
      reason: `${invalid}it is not valid JSON: it is not UTF-8`,
    },
    {
      name: "an array",
      body: [good],
      fault: "NotAnObject",
      reason: `${invalid}it must be a JSON object, not an array`,
    },
    {
      name: "a scalar",
      body: "3",
      fault: "NotAnObject",
      reason: `${invalid}it must be a JSON object, not a number`,
    },
    {
      name: "null",
      body: "null",
      fault: "NotAnObject",
      reason: `${invalid}it must be a JSON object, not null`,
    },
    {
      name: "no Status",
      body: { ...good, Status: undefined },
      fault: "NoStatus",
      reason: `${invalid}it has no Status`,
    },
    { name: "nothing at all", body: {}, fault: "NoStatus", reason: `${invalid}it has no Status` },
    {
      name: "fact 34: FAILURE",
      body: { ...good, Status: "FAILURE" },
      fault: "UnknownStatus",
      reason: `${invalid}'FAILURE' is not a valid ResponseStatus`,
    },
    {
      name: "fact 34: success in small letters",
      body: { ...good, Status: "success" },
      fault: "UnknownStatus",
      reason: `${invalid}'success' is not a valid ResponseStatus`,
    },
    {
      name: "fact 43: SUCCESS with Reason: null",
      body: { ...good, Reason: null },
      fault: "ReasonNotString",
      reason: `${invalid}Reason must be a string, not null`,
    },
    {
      name: "NoEcho as a string",
      body: { ...good, NoEcho: "true" },
      fault: "NoEchoNotBoolean",
      reason: `${invalid}NoEcho must be a Boolean, not a string`,
    },
    {
      name: "Data as a string",
      body: { ...good, Data: "{}" },
      fault: "DataNotAnObject",
      reason: `${invalid}Data must be a JSON object, not a string`,
    },
  ])("$name", ({ body, fault, reason }) => {
    expect(judge(body)).toEqual({ kind: "malformed", fault, reason });
  });

  test("what a body holds is never quoted, but for its status", () => {
    expect(JSON.stringify(judge('{"Status":"SUCCESS","Data":{"Password":"hunter2"'))).not.toContain(
      "hunter2",
    );
  });
});

describe("fact 35: the limit is 4096 bytes, inclusive", () => {
  const padded = (length: number) => {
    const empty = JSON.stringify({ ...good, Data: { Pad: "" } }).length;
    return JSON.stringify({ ...good, Data: { Pad: "x".repeat(length - empty) } });
  };
  test.each([4095, 4096])("%i bytes are read", (length) => {
    expect(judge(padded(length))).toMatchObject({ kind: "answer" });
  });

  test("fact 36: 4097 are too long, whatever they say", () => {
    const reason = "Response object is too long.";
    expect(judge(padded(4097))).toEqual({ kind: "malformed", fault: "TooLong", reason });
    const cut = Buffer.from(padded(9000)).subarray(0, 4097);
    expect(parseResponse(cut, 9000, { ...identity, requestType: "Create" })).toMatchObject({
      fault: "TooLong",
    });
    expect(judge("x".repeat(4097))).toMatchObject({ fault: "TooLong" });
  });

  test("bytes are counted, not characters", () => {
    expect(judge({ ...good, Data: { Pad: "\u00fc".repeat(2100) } })).toMatchObject({ fault: "TooLong" });
  });
});

describe("facts 37 to 40: the physical id", () => {
  const types = ["Create", "Update", "Delete"] as const;
  const bad = [undefined, null, "", 5, ["a"], "x".repeat(1025), "\u00fc".repeat(513)];
  const cases = types.flatMap((requestType) =>
    bad.map((PhysicalResourceId) => ({ requestType, PhysicalResourceId })),
  );
  test.each(cases)(
    "$requestType answered with $PhysicalResourceId",
    ({ requestType, PhysicalResourceId }) => {
      const verdict = judge(
        { ...good, Status: "FAILED", Reason: "the real one", PhysicalResourceId },
        requestType,
      );
      expect(verdict).toEqual({
        kind: "malformed",
        fault: "InvalidPhysicalId",
        reason: "Invalid PhysicalResourceId",
        hidden: "the real one",
      });
    },
  );

  test("1024 bytes are allowed", () => {
    expect(judge({ ...good, PhysicalResourceId: "x".repeat(1024) })).toMatchObject({ kind: "answer" });
  });
});

describe("a body that is about another request", () => {
  test.each(["StackId", "RequestId", "LogicalResourceId"])("%s differs or is missing", (name) => {
    const foreign = { kind: "foreign", fault: "WrongRequest" };
    expect(judge({ ...good, [name]: "other" })).toMatchObject(foreign);
    expect(judge({ ...good, [name]: undefined })).toMatchObject(foreign);
    expect(judge({ ...good, [name]: 5 })).toMatchObject(foreign);
  });

  test("is not judged any further", () => {
    expect(judge({ RequestId: "other", Status: "FAILURE" })).toMatchObject({ kind: "foreign" });
    expect(judge({ ...good, RequestId: "other", PhysicalResourceId: "" })).toMatchObject({ kind: "foreign" });
  });
});

test("whatever was formatted is parsed again, and any bytes get a verdict", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 60 });
  const physicalId = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 });
  const data = fc
    .dictionary(text, text, { maxKeys: 4 })
    .map((map) => Object.fromEntries(Object.entries(map)));
  const response: fc.Arbitrary<ProviderResponse> = fc.oneof(
    fc.record({ status: fc.constant("SUCCESS" as const), physicalId, data, noEcho: fc.boolean() }),
    fc.record({ status: fc.constant("FAILED" as const), physicalId, reason: text }),
  );
  fc.assert(
    fc.property(response, (given) => {
      expect(judge(formatResponse(given, identity))).toEqual({ kind: "answer", response: given });
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(judge(bytes)).toHaveProperty("kind");
    }),
  );
});

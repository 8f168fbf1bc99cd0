import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatRequest, parseRequest, type ProviderRequest } from "./request.ts";

const base = {
  serviceToken: "arn:aws:lambda:us-east-1:123456789012:function:provider",
  responseUrl: "https://example.test/key?X-Amz-Signature=secret",
  stackId: "arn:aws:cloudformation:us-east-1:123456789012:stack/demo/guid",
  requestId: "5e1b0b5e-0000-4000-8000-000000000001",
  logicalId: "Greeting",
  resourceType: "Custom::Greeting",
  properties: { ServiceToken: "arn:aws:lambda:us-east-1:123456789012:function:provider", Name: "Ann" },
};
const create: ProviderRequest = { ...base, requestType: "Create" };
const update: ProviderRequest = {
  ...base,
  requestType: "Update",
  physicalId: "greeting-1",
  oldProperties: { Name: "Bob" },
};
const deletion: ProviderRequest = { ...base, requestType: "Delete", physicalId: "greeting-1" };

describe("a request on the wire", () => {
  const first = ["RequestType", "ServiceToken", "ResponseURL", "StackId", "RequestId", "LogicalResourceId"];
  test.each([
    { request: create, fields: [...first, "ResourceType", "ResourceProperties"] },
    {
      request: update,
      fields: [...first, "PhysicalResourceId", "ResourceType", "ResourceProperties", "OldResourceProperties"],
    },
    { request: deletion, fields: [...first, "PhysicalResourceId", "ResourceType", "ResourceProperties"] },
  ])("$request.requestType has exactly its fields, in order (facts 1, 4, 5)", ({ request, fields }) => {
    expect(Object.keys(formatRequest(request))).toEqual(fields);
  });

  test.each([create, update, deletion])("$requestType comes back as it was", (request) => {
    expect(parseRequest(JSON.parse(JSON.stringify(formatRequest(request))))).toEqual({ ok: true, request });
  });
});

describe("a request that is no good", () => {
  test.each([undefined, null, 3, "text", [formatRequest(create)]])("%j is no object", (input) => {
    expect(parseRequest(input)).toEqual({ ok: false, complaint: "Not an object" });
  });

  test.each(["ResponseURL", "StackId", "RequestId", "LogicalResourceId"])(
    "without %s nobody can answer",
    (name) => {
      const { [name]: left, ...wire } = formatRequest(create);
      expect(left).toBeDefined();
      expect(parseRequest(wire)).toEqual({ ok: false, complaint: `The request has no ${name}` });
    },
  );

  test.each([
    {
      name: "an unknown RequestType",
      change: { RequestType: "Read" },
      complaint: "Unknown RequestType 'Read'",
    },
    { name: "no RequestType", change: { RequestType: null }, complaint: "Unknown RequestType ''" },
    {
      name: "properties that are a list",
      change: { ResourceProperties: [] },
      complaint: "ResourceProperties is no object",
    },
    {
      name: "an Update without an id",
      change: { RequestType: "Update" },
      complaint: "The Update has no PhysicalResourceId",
    },
    {
      name: "a Delete with an empty id",
      change: { RequestType: "Delete", PhysicalResourceId: "" },
      complaint: "The Delete has no PhysicalResourceId",
    },
  ])("$name can still be answered", ({ change, complaint }) => {
    const parsed = parseRequest({ ...formatRequest(create), ...change });
    expect(parsed).toMatchObject({ ok: false, complaint, addressee: { responseUrl: base.responseUrl } });
  });

  test("an Update without OldResourceProperties has none", () => {
    const { OldResourceProperties: left, ...wire } = formatRequest(update);
    expect(left).toBeDefined();
    expect(parseRequest(wire)).toMatchObject({ ok: true, request: { oldProperties: {} } });
  });

  test("never throws, whatever comes", () => {
    fc.assert(
      fc.property(fc.anything(), (input) => {
        expect(parseRequest(input)).toHaveProperty("ok");
      }),
    );
  });
});

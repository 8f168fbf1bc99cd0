import { parseXml, type XmlElement } from "@rgrove/parse-xml";
import fc from "fast-check";
import { expect, test } from "vitest";
import { loadModel } from "../model.ts";
import { awsQuery } from "./aws-query.ts";
import { escapeXml } from "./xml-writer.ts";

const model = loadModel("cloudformation");

function parse(fields: readonly (readonly [string, string])[]) {
  const body = Buffer.from(
    new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString(),
  );
  const request = { method: "POST", path: "/", query: [], headers: {}, body };
  const addressed = awsQuery.address(model, request);
  return awsQuery.parse({ model, request, addressed });
}

test("lists, structures and simple values are read from their fields", () => {
  expect(
    parse([
      ["Action", "CreateStack"],
      ["StackName", "a b&c"],
      ["DisableRollback", "true"],
      ["TimeoutInMinutes", "7"],
      // As numbers, not as texts: 10 comes after 2.
      ["Tags.member.10.Key", "last"],
      ["Tags.member.2.Key", "first"],
      ["Tags.member.2.Value", "x"],
    ]),
  ).toEqual({
    StackName: "a b&c",
    DisableRollback: true,
    TimeoutInMinutes: 7,
    Tags: [{ Key: "first", Value: "x" }, { Key: "last" }],
  });
});

test("an empty list is empty, and what the model doesn't know is ignored", () => {
  const fields = [
    ["Action", "CreateStack"],
    ["Capabilities", ""],
    ["DeploymentConfig.Mode", "STANDARD"],
    ["NoSuchThing.member.1", "x"],
  ] as const;
  expect(parse(fields)).toEqual({ Capabilities: [], DeploymentConfig: { Mode: "STANDARD" } });
});

test.each([
  { name: "an unknown action", action: "Nonsense", code: "InvalidAction" },
  { name: "no action", action: "", code: "MissingAction" },
])("$name is refused", ({ action, code }) => {
  expect(() => parse([["Action", action]])).toThrow(expect.objectContaining({ code }));
});

test.each([
  { field: "TimeoutInMinutes", value: "many" },
  { field: "DisableRollback", value: "maybe" },
])("$field can't be $value", ({ field, value }) => {
  const fields = [["Action", "CreateStack"] as const, [field, value] as const];
  expect(() => parse(fields)).toThrow(expect.objectContaining({ code: "MalformedInput" }));
});

test("an answer has the operation's envelope, and no element for what is undefined", () => {
  const operation = model.operations.get("DescribeStacks");
  if (operation === undefined) throw new Error("DescribeStacks is gone");
  const Stacks = [
    { StackName: "a", CreationTime: 0, StackStatus: "CREATE_COMPLETE", Description: undefined, Tags: [] },
  ];
  const { body } = awsQuery.answer({ model, operation, output: { Stacks }, requestId: "r" });
  expect(body).toBe(
    '<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult>' +
      "<Stacks><member><StackName>a</StackName><CreationTime>1970-01-01T00:00:00.000Z</CreationTime>" +
      "<StackStatus>CREATE_COMPLETE</StackStatus><Tags></Tags></member></Stacks>" +
      "</DescribeStacksResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></DescribeStacksResponse>",
  );
});

test("a member that the model lacks is a bug, not an answer", () => {
  const operation = model.operations.get("DeleteStack");
  const described = model.operations.get("DescribeStacks");
  if (operation === undefined || described === undefined) throw new Error("operations are gone");
  const output = { Stakcs: [] };
  expect(() => awsQuery.answer({ model, operation: described, output, requestId: "r" })).toThrow("Stakcs");
});

test("whatever text is written is read again, but for what XML can't hold", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const read = (parseXml(`<a>${escapeXml(text)}</a>`).root as XmlElement).text;
      const legal = text.replace(/(?![\t\n\r\x7f-\x9f])[\p{Cc}\p{Surrogate}\ufffe\uffff]/gu, "\ufffd");
      expect(read).toBe(legal);
    }),
  );
});

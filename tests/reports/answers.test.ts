import { expect, test } from "vitest";
import { author, showing } from "./support.ts";

// Public reports of what stood in an answer, or didn't. Each test has the report's small input, in our words.

/** Answers with the data that `data` gives of the event, by the module that AWS gives to inline code. */
const answering = (data: string, noEcho = false) => `const response = require("cfn-response");
exports.handler = (event, context) => {
  ${showing.javascript}
  response.send(event, context, "SUCCESS", (${data})(event), "thing", ${noEcho});
};
`;

/** An output of an attribute. */
const attribute = (name: string) => ({ Value: { "Fn::GetAtt": ["Thing", name] } });

test("B22: what is nested in Data is no attribute; the message is AWS's, the advice says how it must look", async () => {
  const { deploy } = author();
  const { text } = await deploy({
    code: answering("() => ({ roleArns: { reader: 'arn' } })"),
    outputs: { Reader: attribute("roleArns.reader") },
  });
  expect(text).toContain(
    "CustomResource attribute error: Vendor response doesn't contain roleArns.reader attribute in object ",
  );
  expect(text).toContain(
    'roleArns is in the Data of Thing, but only the names at the top of Data are attributes: put "roleArns.reader" there as a name of its own.',
  );
});

test("B22: a name that is a little different is answered with the names that there are", async () => {
  const { deploy } = author();
  const { text } = await deploy({
    code: answering("() => ({ size: '1', color: 'red' })"),
    outputs: { Size: attribute("Size") },
  });
  expect(text).toContain(
    "The Data of Thing has only size, color: compare the names, also their upper and lower case.",
  );
});

test("B23: an Update that returns no Data takes all attributes away", async () => {
  const { deploy } = author();
  const stack = {
    code: answering(
      "(event) => (event.RequestType === 'Create' || event.ResourceProperties.Size === '1' ? { Id: 'a' } : {})",
    ),
    outputs: { Id: attribute("Id") },
  };
  expect((await deploy({ ...stack, properties: { Size: "1" } })).code).toBe(0);
  const { code, text } = await deploy({ ...stack, properties: { Size: "2" } });
  expect(code).toBe(1);
  expect(text).toContain("Vendor response doesn't contain Id attribute");
  expect(text).toContain(
    "an answer to Update needs the same Data as one to Create, since it takes its place.",
  );
});

test("B24: a provider's new version that answers with other names breaks at the next Update, not before", async () => {
  const { deploy } = author();
  const outputs = { Url: attribute("url") };
  await deploy({ code: answering("() => ({ url: 'a' })"), properties: { Size: "1" }, outputs });
  const renamed = answering("() => ({ address: 'a' })");
  const unnoticed = await deploy({ code: renamed, properties: { Size: "1" }, outputs });
  expect(unnoticed.code).toBe(0);
  expect(unnoticed.text).toContain("Note: The function behind Thing has changed, but was not called");
  const broken = await deploy({ code: renamed, properties: { Size: "2" }, outputs });
  expect(broken.text).toContain("Vendor response doesn't contain url attribute");
});

test("B28: FAILURE is no status; the message is AWS's", async () => {
  const { deploy } = author();
  const { events } = await deploy({
    code: `const response = require("cfn-response");
exports.handler = (event, context) =>
  response.send(event, context, event.RequestType === "Delete" ? "SUCCESS" : "FAILURE", {}, "thing");
`,
  });
  expect(events).toContainEqual(
    expect.stringMatching(/^Thing CREATE_FAILED Invalid Response object: .*FAILURE/),
  );
});

test("B29: NoEcho hides an attribute from who looks, not from who uses it", async () => {
  const { deploy, custard, requests } = author();
  const { text } = await deploy({
    code: answering("() => ({ Password: 's3cret' + '-word' })", true),
    outputs: { Password: attribute("Password") },
    resources: {
      User: {
        Type: "Custom::User",
        Properties: {
          ServiceToken: { "Fn::GetAtt": ["Maker", "Arn"] },
          Password: { "Fn::GetAtt": ["Thing", "Password"] },
        },
      },
    },
  });
  expect(text).toMatch(/Password +\*{5}\n/);
  const described = await custard("describe", "test", "--json");
  expect(described.text).not.toContain("s3cret-word");
  expect((await requests()).map(({ ResourceProperties }) => ResourceProperties["Password"])).toContain(
    "s3cret-word",
  );
});

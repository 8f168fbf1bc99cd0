import { describe, expect, test } from "vitest";
import { deploy, type Deployed, custardEnds, readJson, storyOf, type Line } from "./support/custard.ts";
import {
  provider,
  requestsIn,
  scripted,
  type Script,
  type Scripts,
  templateOf,
} from "./support/scripted-provider.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// The rules of the response, each with a real provider that answers over TLS. Every Delete is answered well.

interface Result extends Deployed {
  readonly folder: string;
}

/** Deploys one scripted resource. */
async function deployThing(
  code: number,
  scripts: Scripts,
  properties: Readonly<Record<string, unknown>> = {},
): Promise<Result> {
  const template = templateOf({ Thing: scripted(scripts, properties) }, { Id: { Ref: "Thing" } });
  const folder = temporaryFolder({ "template.yaml": template });
  return { ...(await deploy(folder, code)), folder };
}

function reasonOf(result: Deployed, status = "CREATE_FAILED"): string | undefined {
  return result.events.find((event) => event.logicalId === "Thing" && event.status === status)?.reason;
}

describe("what is accepted", () => {
  test.each<{ name: string; script: Script; id?: string }>([
    { name: "a body of 4096 bytes", script: { bytes: 4096 } },
    {
      name: "a physical id of 1024 bytes",
      script: { answer: { PhysicalResourceId: "i".repeat(1024) } },
      id: "i".repeat(1024),
    },
    { name: "members that nobody knows", script: { answer: { Color: "red" } } },
    { name: "no Data", script: { omit: ["Data"] } },
  ])("$name", async ({ script, id }) => {
    const { outputs } = await deployThing(0, { OnCreate: script });
    expect(outputs["Id"]).toBe(id ?? "id-of-Thing");
  });
});

describe("what fails the resource at once", () => {
  test.each<{ name: string; script: Script; reason: RegExp }>([
    { name: "a body of 4097 bytes", script: { bytes: 4097 }, reason: /^Response object is too long\.$/ },
    {
      name: "a physical id of 1025 bytes",
      script: { answer: { PhysicalResourceId: "i".repeat(1025) } },
      reason: /^Invalid PhysicalResourceId$/,
    },
    {
      name: "an empty physical id",
      script: { answer: { PhysicalResourceId: "" } },
      reason: /^Invalid PhysicalResourceId$/,
    },
    {
      name: "no physical id",
      script: { omit: ["PhysicalResourceId"] },
      reason: /^Invalid PhysicalResourceId$/,
    },
    {
      name: "FAILED without a physical id, whatever its reason",
      script: { answer: { Status: "FAILED", Reason: "real cause" }, omit: ["PhysicalResourceId"] },
      reason: /^Invalid PhysicalResourceId$/,
    },
    { name: "an array as body", script: { body: "[]" }, reason: /object/ },
    { name: "no JSON", script: { body: "ok" }, reason: /JSON/ },
    { name: "an empty body", script: { body: "" }, reason: /JSON/ },
    { name: "no Status", script: { omit: ["Status"] }, reason: /Status/ },
    { name: "the Status FAILURE", script: { answer: { Status: "FAILURE" } }, reason: /FAILURE|Status/ },
    { name: "NoEcho that is no boolean", script: { answer: { NoEcho: "yes" } }, reason: /NoEcho/ },
    { name: "Data that is a list", script: { answer: { Data: [1] } }, reason: /Data/ },
    {
      name: "FAILED with its reason",
      script: { answer: { Status: "FAILED", Reason: "no room" } },
      reason:
        /^Received response status \[FAILED\] from custom resource\. Message returned: no room \(RequestId: [-0-9a-f]{36}\)$/,
    },
    {
      name: "FAILED without Reason",
      script: { answer: { Status: "FAILED" } },
      reason:
        /^Received response status \[FAILED\] from custom resource\. Message returned: {1,2}\(RequestId: [-0-9a-f]{36}\)$/,
    },
  ])("$name", async ({ script, reason }) => {
    const result = await deployThing(1, { OnCreate: script });
    expect(reasonOf(result)).toMatch(reason);
    expect(result.result?.status).toBe("ROLLBACK_COMPLETE");
    const seen = await requestsIn(result.folder);
    expect(seen.map((request) => request.RequestType)).toEqual(["Create", "Delete"]);
    expect(seen[1]?.RequestId).not.toBe(seen[0]?.RequestId);
  });

  test("the Delete that follows carries the id of the answer, or a made-up one when there was none", async () => {
    const named = await deployThing(1, {
      OnCreate: { answer: { Status: "FAILED", Reason: "no", PhysicalResourceId: "mine" } },
    });
    expect((await requestsIn(named.folder))[1]?.PhysicalResourceId).toBe("mine");
    const unnamed = await deployThing(1, { OnCreate: { omit: ["PhysicalResourceId"] } });
    expect((await requestsIn(unnamed.folder))[1]?.PhysicalResourceId).toMatch(
      /^test-Thing-[A-Za-z0-9]{12,}$/,
    );
  });
});

describe("a Delete's answer", () => {
  test.each<{ name: string; script: Script }>([
    { name: "another physical id", script: { answer: { PhysicalResourceId: "another" } } },
    { name: "Data and NoEcho", script: { answer: { Data: { A: "a" }, NoEcho: true } } },
    { name: "Data and NoEcho of wrong types", script: { answer: { Data: [1], NoEcho: "yes" } } },
  ])("$name counts for nothing", async ({ script }) => {
    const { folder } = await deployThing(0, { OnDelete: script });
    const deleted = await custardEnds(0, folder, ["delete", "test", "--json"]);
    expect(storyOf(deleted.lines, "Thing")).toEqual(["DELETE_IN_PROGRESS", "DELETE_COMPLETE"]);
  });

  test("FAILED fails the deletion; another try, or --retain, ends it", async () => {
    // Else the function would be gone at the second try: CloudFormation goes on deleting what a failed deletion needs.
    const template = templateOf({
      Provider: { ...provider, DeletionPolicy: "Retain" },
      Thing: scripted({ OnDelete: { answer: { Status: "FAILED", Reason: "still in use" } } }),
    });
    const folder = temporaryFolder({ "template.yaml": template });
    const { result } = await deploy(folder, 0);
    const failed = await custardEnds(1, folder, ["delete", "test", "--json"]);
    expect(failed.lines.findLast((line) => line.kind === "result")).toMatchObject({
      status: "DELETE_FAILED",
      reason: "The following resource(s) failed to delete: [Thing]. ",
    });
    await custardEnds(1, folder, ["delete", "test"]);
    const kept = await custardEnds(0, folder, ["delete", "test", "--retain", "Thing", "--json"]);
    expect(storyOf(kept.lines, "Thing")).toEqual(["DELETE_SKIPPED"]);
    const seen = await requestsIn(folder, result?.stackId);
    expect(seen.map((request) => request.RequestType)).toEqual(["Create", "Delete", "Delete"]);
    expect(new Set(seen.map((request) => request.RequestId)).size).toBe(3);
  });
});

describe("ServiceTimeout", () => {
  test.each([0, 3601, "soon"])("%s fails the resource before anything is sent", async (timeout) => {
    const result = await deployThing(1, {}, { ServiceTimeout: timeout });
    expect(reasonOf(result)).toMatch(/ServiceTimeout/);
    expect(await requestsIn(result.folder)).toEqual([]);
  });

  test.each([1, 3600])("%i is allowed, and reaches the provider as a string", async (timeout) => {
    // A delay within the shorter of both, so that the answer is in time.
    const { folder } = await deployThing(0, { OnDelete: {} }, { ServiceTimeout: timeout });
    expect((await requestsIn(folder))[0]?.ResourceProperties["ServiceTimeout"]).toBe(String(timeout));
  });

  test("is waited for when the provider is still at work", async () => {
    const result = await deployThing(1, { OnCreate: { delay: 30_000 } }, { ServiceTimeout: 1 });
    expect(reasonOf(result)).toMatch(
      /^CloudFormation did not receive a response from your Custom Resource\. Please check your logs for requestId \[[-0-9a-f]{36}\]\./,
    );
  });
});

test("NoEcho masks what is shown, not Metadata, and consumers get the true value", async () => {
  const secret = "s3cr3t-value";
  const template = templateOf(
    {
      Secret: scripted({ OnCreate: { answer: { NoEcho: true }, words: secret.split("-") } }),
      User: {
        ...scripted(
          {},
          { Plain: { "Fn::GetAtt": ["Secret", "Value"] }, Inside: { "Fn::Sub": "<${Secret.Value}>" } },
        ),
        Metadata: { Shown: { "Fn::GetAtt": ["Secret", "Value"] } },
      },
    },
    { Value: { "Fn::GetAtt": ["Secret", "Value"] }, Inside: { "Fn::Sub": "<${Secret.Value}>" } },
  );
  const folder = temporaryFolder({ "template.yaml": template });
  const { outputs, events } = await deploy(folder, 0);
  expect(outputs["Value"]).toBe("*****");
  expect(JSON.stringify(outputs)).not.toContain(secret);
  expect(JSON.stringify(events)).not.toContain(secret);
  expect(events.findLast((event) => event.logicalId === "User")?.properties).toMatchObject({
    Plain: "*****",
  });

  const consumer = (await requestsIn(folder)).find((request) => request.LogicalResourceId === "User");
  expect(consumer?.ResourceProperties).toMatchObject({ Plain: secret, Inside: `<${secret}>` });

  const described = await readJson<{
    resources: readonly { logicalId: string; metadata?: unknown; properties: unknown; attributes: unknown }[];
  }>(folder, "describe");
  const user = described.resources.find((resource) => resource.logicalId === "User");
  expect(user?.metadata).toEqual({ Shown: secret });
  expect(
    JSON.stringify(described.resources.map(({ properties, attributes }) => ({ properties, attributes }))),
  ).not.toContain(JSON.stringify({ Plain: secret }).slice(1, -1));
});

test("a value that a NoEcho parameter gives is masked where parameters are shown", async () => {
  const parameters = { Password: { Type: "String", NoEcho: true } };
  const template = templateOf(
    { Thing: scripted({}, { Password: { Ref: "Password" } }) },
    {},
    { Parameters: parameters },
  );
  const folder = temporaryFolder({ "template.yaml": template });
  const { stdout } = await deploy(folder, 0, "--parameters", "Password=hunter2");
  expect(stdout).not.toContain("hunter2");
  expect((await requestsIn(folder))[0]?.ResourceProperties["Password"]).toBe("hunter2");
  expect(await readJson<{ parameters: readonly Line[] }>(folder, "describe")).toMatchObject({
    parameters: [{ name: "Password", value: "****" }],
  });
});

test("a missing attribute fails who asks for it, an output the stack itself", async () => {
  const consumer = templateOf({
    Thing: scripted({}),
    User: scripted({}, { Value: { "Fn::GetAtt": ["Thing", "Nothing"] } }),
  });
  const first = await deploy(temporaryFolder({ "template.yaml": consumer }), 1);
  expect(storyOf(first.events, "User")[0]).toMatch(
    /CREATE_FAILED CustomResource attribute error: Vendor response doesn't contain Nothing attribute in object arn:.*\|Thing\|[-0-9a-f]{36}$/,
  );
  const output = templateOf({ Thing: scripted({}) }, { Value: { "Fn::GetAtt": ["Thing", "Nothing"] } });
  const second = await deploy(temporaryFolder({ "template.yaml": output }), 1);
  expect(storyOf(second.events, "test")).toContainEqual(
    expect.stringMatching(
      /^ROLLBACK_IN_PROGRESS CustomResource attribute error: .*Rollback requested by user\.$/,
    ),
  );
});

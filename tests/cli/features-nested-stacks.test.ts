import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { courseOf, custardEnds, deploy, readJson, storyOf } from "./support/custard.ts";
import { requestsIn, scripted, templateOf, type Scripts } from "./support/scripted-provider.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// Nested stacks by paths beside the parent's template, and stacks that become others.

const child = (scripts: Scripts) =>
  templateOf(
    { Thing: scripted(scripts, { Name: { Ref: "Name" } }) },
    { Id: { Ref: "Thing" } },
    { Parameters: { Name: { Type: "String" } } },
  );
const parent = (name: string) =>
  JSON.stringify({
    Resources: {
      Child: {
        Type: "AWS::CloudFormation::Stack",
        Properties: { TemplateURL: "children/child.json", Parameters: { Name: name } },
      },
    },
    Outputs: { Id: { Value: { "Fn::GetAtt": ["Child", "Outputs.Id"] } } },
  });

function nested(scripts: Scripts = {}): string {
  const folder = temporaryFolder({ "template.yaml": parent("one") });
  mkdirSync(join(folder, "children"));
  writeFileSync(join(folder, "children/child.json"), child(scripts));
  return folder;
}

test("a nested stack is created, updated and deleted with its parent", async () => {
  const folder = nested({ OnUpdate: { answer: { PhysicalResourceId: "another" } } });
  const created = await deploy(folder, 0);
  expect(created.outputs).toEqual({ Id: "id-of-Thing" });
  // Whose code runs is told before it does, that of nested stacks too.
  expect(created.lines.filter(({ kind }) => kind === "function")).toEqual([
    expect.objectContaining({
      logicalId: "Child/Provider",
      from: expect.stringContaining("children/child.json:"),
    }),
  ]);
  const stacks = await readJson<readonly { readonly stackName: string }[]>(folder, "list");
  const childName = stacks.map(({ stackName }) => stackName).find((name) => name.startsWith("test-Child-"));
  writeFileSync(join(folder, "template.yaml"), parent("two"));
  expect((await deploy(folder, 0)).outputs).toEqual({ Id: "another" });
  const requests = await requestsIn(folder, childName ?? "");
  expect(
    requests.map(
      ({ RequestType, ResourceProperties }) => `${RequestType} ${String(ResourceProperties["Name"])}`,
    ),
  ).toEqual(["Create one", "Update two", "Delete one"]);
  await custardEnds(0, folder, ["delete", "test"]);
  expect(await readJson(folder, "list")).toEqual([]);
});

test("a nested stack that fails takes its parent back", async () => {
  const folder = nested({ OnCreate: { answer: { Status: "FAILED", Reason: "no room" } } });
  const { events, lines } = await deploy(folder, 1);
  // What failed is told, not only that something did.
  expect(lines.filter(({ kind }) => kind === "failure")).toEqual([
    expect.objectContaining({
      within: ["Child"],
      resourceType: "Custom::Scripted",
      status: "CREATE_FAILED",
      reason: expect.stringContaining("Message returned: no room"),
    }),
  ]);
  expect(storyOf(events, "Child").join("\n")).toMatch(
    /CREATE_FAILED Embedded stack .* was not successfully created/,
  );
  expect(courseOf(events).at(-1)).toBe("test ROLLBACK_COMPLETE");
});

test("a stack takes on another template: what is new is made first, what is gone goes last", async () => {
  const folder = temporaryFolder({ "template.yaml": templateOf({ Old: scripted({}), Kept: scripted({}) }) });
  await deploy(folder, 0);
  writeFileSync(
    join(folder, "template.yaml"),
    templateOf({ Kept: scripted({}, { Now: "changed" }), New: scripted({}) }, { New: { Ref: "New" } }),
  );
  const { events, outputs } = await deploy(folder, 0);
  const course = courseOf(events);
  expect(outputs).toEqual({ New: "id-of-New" });
  expect(course).toContain("Kept UPDATE_COMPLETE");
  expect(course.indexOf("Old DELETE_COMPLETE")).toBeGreaterThan(course.indexOf("New CREATE_COMPLETE"));
  expect(course.at(-1)).toBe("test UPDATE_COMPLETE");
});

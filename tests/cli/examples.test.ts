import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { courseOf, custardEnds, type Ended, type Line, readJson, root } from "./support/custard.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// Each example is run as its README says, by the real command line with real processes.

/** A copy of an example, so that its state goes with the test. */
function copyOf(name: string): string {
  const folder = join(temporaryFolder(), name);
  cpSync(join(root, "examples", name), folder, {
    recursive: true,
    filter: (path) => !path.endsWith(".custard"),
  });
  return folder;
}

async function deploy(folder: string, code: number, ...options: readonly string[]): Promise<Ended> {
  return custardEnds(code, folder, ["deploy", "template.yaml", ...options]);
}

async function outputs(folder: string): Promise<Readonly<Record<string, string>>> {
  return readJson(folder, "outputs");
}

function eventsOf(ended: Ended): readonly Line[] {
  return ended.lines.filter((line) => line.kind === "event");
}

test("01 greeting: outputs that functions computed, then nothing to update, then an update", async () => {
  const folder = copyOf("01-greeting");
  const first = await deploy(folder, 0);
  expect(first.stdout).toContain("Runs GreetFunction (python3.12) as you, from template.yaml:");
  expect(first.stdout).toContain("✓ greeting CREATE_COMPLETE");
  expect(first.stdout).toContain("Hello, Ada!");
  expect(await outputs(folder)).toEqual({
    Greeting: "Hello, Ada!",
    Letters: "8",
    Badge: expect.stringMatching(/^\[ HELLO, ADA! \] on #[0-9a-f]{6}, seal [0-9a-f]{12}$/),
  });
  const second = await deploy(folder, 0);
  expect(second.stdout).toContain("nothing is to be updated");
  await deploy(folder, 0, "--parameters", "Name=Grace", "Language=fr");
  expect(await outputs(folder)).toMatchObject({ Greeting: "Bonjour, Grace!", Letters: "12" });
  const deleted = await custardEnds(0, folder, ["delete", "greeting"]);
  expect(deleted.stdout).toMatch(/✓ greeting DELETE_COMPLETE after .* s\n$/);
});

test("02 subnets: a Node.js function with cfn-response, a list as attribute, a failed update that is rolled back", async () => {
  const folder = copyOf("02-subnets");
  await deploy(folder, 0);
  const before = {
    First: "10.20.0.0/18",
    All: "10.20.0.0/18 10.20.64.0/18 10.20.128.0/18 10.20.192.0/18",
    Id: "subnets-of-Subnets",
  };
  expect(await outputs(folder)).toEqual(before);
  const failed = await deploy(folder, 1, "--parameters", "Network=10.0.0.0/27", "Count=16");
  expect(failed.stdout).toContain("10.0.0.0/27 is too small for 16 subnets");
  expect(await outputs(folder)).toEqual(before);
});

test("03 password: NoEcho is masked for whoever looks, true for who uses it; a new one replaces the old", async () => {
  const folder = copyOf("03-password");
  await deploy(folder, 0);
  expect(await outputs(folder)).toEqual({ Password: "*****", Strength: "strong", Masked: "False" });
  const updated = await deploy(folder, 0, "--parameters", "Length=12", "--json");
  expect(courseOf(eventsOf(updated))).toContain("Password DELETE_COMPLETE");
  expect(await outputs(folder)).toMatchObject({ Strength: "weak", Masked: "False" });
});

test("04 senders written by hand to port 443, in Node.js and Python", async () => {
  const folder = copyOf("04-https-sender");
  await deploy(folder, 0);
  expect(await outputs(folder)).toEqual({
    Place: "Reykjavik lies at 64.15, -21.94",
    HoursFromGreenwich: "-1",
  });
  const logs = await custardEnds(0, folder, ["logs", "PlaceFunction"]);
  expect(logs.stdout).toContain("answered 200");
});

test("05 replacement: another color in place, another name by a new one", async () => {
  const folder = copyOf("05-replacement");
  await deploy(folder, 0);
  const recolored = await deploy(folder, 0, "--parameters", "Color=green", "--json");
  expect(courseOf(eventsOf(recolored)).filter((step) => step.startsWith("Balloon"))).toEqual([
    "Balloon UPDATE_IN_PROGRESS",
    "Balloon UPDATE_COMPLETE",
  ]);
  expect(await outputs(folder)).toEqual({ Balloon: "balloon/red-balloon", Color: "green" });
  const renamed = await deploy(folder, 0, "--parameters", "Name=green-balloon", "--json");
  const deleted = eventsOf(renamed).find((event) => event.status === "DELETE_COMPLETE");
  expect(deleted).toMatchObject({ logicalId: "Balloon", physicalId: "balloon/red-balloon" });
  expect(await outputs(folder)).toEqual({ Balloon: "balloon/green-balloon", Color: "green" });
});

test("06 failure: what the provider said and logged, and a stack that goes back", async () => {
  const folder = copyOf("06-failure");
  const refused = await deploy(folder, 1);
  expect(refused.stdout).toMatch(
    /✗ Table \(Custom::Table\) CREATE_FAILED\n {2}Received response status \[FAILED\] from custom resource\. Message returned: No table has 40 seats, at most 12 can sit together \(RequestId: [-0-9a-f]{36}\)/,
  );
  expect(refused.stdout).toContain("| the largest table has 12 seats");
  expect(refused.stdout).toContain("What to do:");
  expect(refused.stdout).toContain("failure ROLLBACK_COMPLETE");
  const again = await deploy(folder, 2);
  expect(again.stderr).toContain("is in ROLLBACK_COMPLETE state and can not be updated.");
  await custardEnds(0, folder, ["delete", "failure"]);
  await deploy(folder, 0, "--parameters", "Guests=8");
  await deploy(folder, 1, "--parameters", "Guests=40");
  expect(await outputs(folder)).toEqual({ Table: "108" });
});

test("07 chain: three resources of two functions; one update asks one; deletion runs backwards", async () => {
  const folder = copyOf("07-chain");
  await deploy(folder, 0);
  expect(await outputs(folder)).toEqual({
    Place: "the-custard-cookbook@id-of-Book",
    Opening: "id-of-Opening",
  });
  const created = await readJson<readonly Line[]>(folder, "logs", "chain");
  const asked = (entries: readonly Line[]): readonly string[] =>
    entries.flatMap(
      (entry) =>
        /(?:Create|Update|Delete) (?:Book|Shelf|Opening)/.exec(
          entry.kind === "log" ? (entry.text ?? "") : "",
        )?.[0] ?? [],
    );
  expect(asked(created)).toEqual(["Create Book", "Create Shelf", "Create Opening"]);

  // A title with the same slug changes what Book gets and nothing that others get.
  await deploy(folder, 0, "--parameters", "Title=The custard cookbook");
  expect(asked(await readJson(folder, "logs", "chain")).slice(3)).toEqual(["Update Book"]);

  await custardEnds(0, folder, ["delete", "chain"]);
  const after = await readJson<readonly { readonly stackId: string }[]>(folder, "list", "--all");
  expect(asked(await readJson(folder, "logs", after[0]?.stackId ?? "")).slice(4)).toEqual([
    "Delete Opening",
    "Delete Shelf",
    "Delete Book",
  ]);
});

test("08 silent: fails within 3 s of the return, by name, with the log lines; the Delete is just as silent", async () => {
  const folder = copyOf("08-silent");
  const failed = await deploy(folder, 1);
  expect(failed.stdout).toContain("✗ Quiet (Custom::Quiet) CREATE_FAILED");
  expect(failed.stdout).toContain("| ");
  expect(failed.stdout).toContain("Create: I think I forgot something");
  expect(failed.stdout).toContain("silent ROLLBACK_FAILED");
});

test("08 silent, variant: its Delete is answered, and the rollback completes", async () => {
  const folder = copyOf("08-silent");
  const failed = await custardEnds(1, folder, ["deploy", "answers-delete.yaml"]);
  expect(failed.stdout).toContain("✗ Quiet (Custom::Quiet) CREATE_FAILED");
  expect(failed.stdout).toContain("answers-delete ROLLBACK_COMPLETE");
});

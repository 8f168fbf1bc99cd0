import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { custard, custardEnds, deploy, type Running, startCustard, storyOf } from "./support/custard.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const provider = join(import.meta.dirname, "support/express-provider.cjs");

function template(endpoint: string, size: string, version = "2"): string {
  return `Resources:
  Topic:
    Type: AWS::SNS::Topic
    Properties:
      SignatureVersion: ${version}
  Subscription:
    Type: AWS::SNS::Subscription
    Properties:
      TopicArn: !Ref Topic
      Protocol: http
      Endpoint: ${endpoint}
  Thing:
    Type: Custom::Thing
    DependsOn: Subscription
    Properties:
      ServiceToken: !Ref Topic
      ServiceTimeout: 30
      Size: ${size}
Outputs:
  Size:
    Value: !GetAtt Thing.Size
  Id:
    Value: !Ref Thing
`;
}

/** Starts the provider as a user does, before anything is deployed. */
async function startProvider(folder: string): Promise<Running & { readonly url: string }> {
  const running = startCustard(folder, ["exec", "--", process.execPath, provider]);
  onTestFinished(async () => {
    // It passes the signal on: killed at once, it would leave its program behind.
    running.child.kill("SIGTERM");
    await running.ended;
  });
  const port = await vi.waitFor(
    () => {
      const [, found] = /LISTENING (\d+)/.exec(running.output()) ?? [];
      if (found === undefined) throw new Error(`the provider doesn't listen: ${running.output()}`);
      return found;
    },
    { timeout: 20_000, interval: 20 },
  );
  return { ...running, url: `http://127.0.0.1:${port}/` };
}

test.each(["1", "2"])(
  "a provider behind a topic completes create, update and delete (signature version %s)",
  async (version) => {
    const folder = temporaryFolder();
    const running = await startProvider(folder);
    const write = async (size: string, ...options: string[]) => {
      writeFileSync(join(folder, "template.yaml"), template(running.url, size, version));
      return await deploy(folder, 0, ...options);
    };

    const created = await write("3");
    expect(created.outputs).toMatchObject({ Size: "size 3", Id: expect.stringMatching(/^thing-/) });
    const updated = await write("4");
    expect(updated.outputs).toEqual({ Size: "size 4", Id: created.outputs["Id"] });
    expect(storyOf(updated.events, "Thing")).toEqual(["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"]);
    await custardEnds(0, folder, ["delete", "test"]);

    const said = running
      .output()
      .split("\n")
      .filter((line) => /^[A-Z]/.test(line) && !line.startsWith("LISTENING"));
    const physicalId = created.outputs["Id"];
    expect(said.map((line) => line.trim())).toEqual([
      `VALID SubscriptionConfirmation ${version}`,
      `VALID Notification ${version}`,
      "Create",
      "ANSWERED 200",
      `VALID Notification ${version}`,
      `Update ${physicalId}`,
      "ANSWERED 200",
      `VALID Notification ${version}`,
      `Delete ${physicalId}`,
      "ANSWERED 200",
    ]);
  },
);

test("a provider that isn't started is told of", async () => {
  const folder = temporaryFolder({ "template.yaml": template("http://127.0.0.1:9/", "3") });
  const failed = await deploy(folder, 1);
  const failure = failed.lines.find((line) => line.kind === "failure");
  expect(failure?.advice).toMatch(
    /^The subscription of http:\/\/127\.0\.0\.1:9\/ to topic test-Topic-\w+ isn't confirmed, .* it can't be reached/,
  );
});

test("a program ends as it does", async () => {
  const folder = temporaryFolder();
  expect((await custard(folder, "exec", "--", process.execPath, "-e", "process.exit(7)")).code).toBe(7);
  const killed = "process.kill(process.pid, 'SIGKILL')";
  expect((await custard(folder, "exec", "--", process.execPath, "-e", killed)).code).toBe(137);
});

test("a program gets its arguments, and the caller's environment", async () => {
  const folder = temporaryFolder();
  const source = "console.log(process.argv.slice(1).join(), process.env.MINE, process.cwd())";
  const running = startCustard(folder, ["exec", "--", process.execPath, "-e", source, "a", "--state"], {
    MINE: "mine",
  });
  const { stdout, code } = await running.ended;
  expect({ stdout, code }).toEqual({ stdout: `a,--state mine ${folder}\n`, code: 0 });
});

test("a program that is none", async () => {
  const ended = await custardEnds(2, temporaryFolder(), ["exec", "--", "no-such-program"]);
  expect(ended.stderr).toContain("There is no program no-such-program");
});

test("without an engine, an answer is refused at once", async () => {
  const source = `fetch("https://cloudformation-custom-resource-response-useast1.s3.amazonaws.com/", { method: "PUT" }).catch((error) => console.log(error.cause.code))`;
  const ended = await custardEnds(0, temporaryFolder(), ["exec", "--", process.execPath, "-e", source]);
  expect(ended.stdout).toBe("ECONNREFUSED\n");
});

import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../support/present.ts";
import { run, type Run, type Server, startServer, template } from "../server.ts";

const programs = present("the aws CLI", ["/usr/bin/aws", "aws"], "--version");
/** Debian's, or else the user's own. */
const [program = "aws"] = programs;
const isOfVersion1 = spawnSync(program, ["--version"], { encoding: "utf8" }).stdout.startsWith("aws-cli/1.");

describe.skipIf(programs.length === 0)("the aws CLI", () => {
  let server: Server;

  beforeAll(async () => {
    server = await startServer();
    await writeFile(join(server.folder, "template.yaml"), template);
  });

  afterAll(async () => {
    await server.close();
  });

  async function aws(...rest: readonly string[]): Promise<Run> {
    return await run([program, "--endpoint-url", server.url, ...rest], server);
  }

  /** What a call gives; it must succeed. */
  async function json(...rest: readonly string[]): Promise<unknown> {
    const { code, stdout, stderr } = await aws(...rest, "--output", "json");
    expect(`${code} ${stderr}`).toBe("0 ");
    return stdout.trim() === "" ? undefined : (JSON.parse(stdout) as unknown);
  }

  async function cloudformation(...rest: readonly string[]): Promise<unknown> {
    return await json("cloudformation", ...rest);
  }

  test("a stack is created, watched, updated and deleted", async () => {
    const stack = ["--stack-name", "life"];
    await cloudformation("validate-template", "--template-body", "file://template.yaml");
    await cloudformation(
      "create-stack",
      ...stack,
      "--template-body",
      "file://template.yaml",
      "--capabilities",
      "CAPABILITY_IAM",
    );
    await cloudformation("wait", "stack-create-complete", ...stack);
    expect(await cloudformation("list-exports")).toMatchObject({
      Exports: [{ Name: "life-word", Value: "one" }],
    });

    await cloudformation(
      "update-stack",
      ...stack,
      "--use-previous-template",
      "--capabilities",
      "CAPABILITY_IAM",
      "--parameters",
      "ParameterKey=Word,ParameterValue=two",
    );
    await cloudformation("wait", "stack-update-complete", ...stack);
    expect(await cloudformation("describe-stacks", ...stack)).toMatchObject({
      Stacks: [
        {
          StackStatus: "UPDATE_COMPLETE",
          Outputs: expect.arrayContaining([
            expect.objectContaining({ OutputKey: "Word", OutputValue: "two" }),
          ]),
        },
      ],
    });
    expect(await cloudformation("describe-stack-events", ...stack)).toMatchObject({
      StackEvents: expect.arrayContaining([
        expect.objectContaining({ LogicalResourceId: "Mine", ResourceStatus: "UPDATE_COMPLETE" }),
      ]),
    });

    await cloudformation("delete-stack", ...stack);
    await cloudformation("wait", "stack-delete-complete", ...stack);
    const gone = await aws("cloudformation", "describe-stacks", ...stack);
    expect(gone.stderr).toContain(
      "(ValidationError) when calling the DescribeStacks operation: Stack with id life does not exist",
    );
  }, 120_000);

  test("deploy does nothing the second time", async () => {
    const deploy = [
      "cloudformation",
      "deploy",
      "--stack-name",
      "deployed",
      "--template-file",
      "template.yaml",
      "--capabilities",
      "CAPABILITY_IAM",
    ];
    expect((await aws(...deploy)).stdout).toContain("Successfully created/updated stack - deployed");
    expect((await aws(...deploy)).stderr + (await aws(...deploy)).stdout).toContain(
      "No changes to deploy. Stack deployed is up to date",
    );
  }, 120_000);

  test("change sets are made, described and executed", async () => {
    const named = ["--stack-name", "changed", "--change-set-name", "first"];
    await cloudformation(
      "create-change-set",
      ...named,
      "--change-set-type",
      "CREATE",
      "--template-body",
      "file://template.yaml",
      "--capabilities",
      "CAPABILITY_IAM",
    );
    await cloudformation("wait", "change-set-create-complete", ...named);
    expect(await cloudformation("describe-change-set", ...named)).toMatchObject({
      Status: "CREATE_COMPLETE",
      ExecutionStatus: "AVAILABLE",
    });
    await cloudformation("execute-change-set", ...named);
    await cloudformation("wait", "stack-create-complete", "--stack-name", "changed");
  }, 120_000);

  test("a rollback that failed is continued", async () => {
    const stack = ["--stack-name", "stuck"];
    const parameters = (...values: readonly string[]) => [
      "--parameters",
      ...values.map(
        (value) => `ParameterKey=${value.split("=")[0] ?? ""},ParameterValue=${value.split("=")[1] ?? ""}`,
      ),
    ];
    const given = ["--template-body", "file://template.yaml", "--capabilities", "CAPABILITY_IAM"];
    await cloudformation("create-stack", ...stack, ...given, ...parameters("Fail=Update"));
    await cloudformation("wait", "stack-create-complete", ...stack);
    await cloudformation("update-stack", ...stack, ...given, ...parameters("Fail=Update", "Word=two"));
    await expect
      .poll(async () => await cloudformation("describe-stacks", ...stack), { timeout: 30_000 })
      .toMatchObject({ Stacks: [{ StackStatus: "UPDATE_ROLLBACK_FAILED" }] });
    await cloudformation("continue-update-rollback", ...stack, "--resources-to-skip", "Mine");
    await cloudformation("wait", "stack-rollback-complete", ...stack);
    expect(await cloudformation("describe-stacks", ...stack)).toMatchObject({
      Stacks: [{ StackStatus: "UPDATE_ROLLBACK_COMPLETE" }],
    });
  }, 120_000);

  test("functions, logs, topics, objects and parameters", async () => {
    await cloudformation(
      "create-stack",
      "--stack-name",
      "all",
      "--template-body",
      "file://template.yaml",
      "--capabilities",
      "CAPABILITY_IAM",
    );
    await cloudformation("wait", "stack-create-complete", "--stack-name", "all");
    const { stdout } = await aws(
      "cloudformation",
      "describe-stacks",
      "--stack-name",
      "all",
      "--query",
      "Stacks[0].Outputs[?OutputKey=='Function'].OutputValue",
      "--output",
      "text",
    );
    const name = stdout.trim();
    await json(
      "lambda",
      "invoke",
      "--function-name",
      name,
      // Version 1 always takes it so.
      ...(isOfVersion1 ? [] : ["--cli-binary-format", "raw-in-base64-out"]),
      "--payload",
      '{"a":1}',
      "answer.json",
    );
    expect((await run(["cat", "answer.json"], server)).stdout).toBe('{"echo":{"a":1}}');
    const logged = await json("logs", "filter-log-events", "--log-group-name", `/aws/lambda/${name}`);
    expect(JSON.stringify(logged)).toContain("word one");

    const topic = (await json("sns", "create-topic", "--name", "news")) as { readonly TopicArn: string };
    expect(await json("sns", "publish", "--topic-arn", topic.TopicArn, "--message", "hello")).toMatchObject({
      MessageId: expect.any(String),
    });

    await aws("s3", "mb", "s3://things");
    expect((await aws("s3", "cp", "template.yaml", "s3://things/a/template.yaml")).code).toBe(0);
    expect((await aws("s3", "cp", "s3://things/a/template.yaml", "-")).stdout).toBe(template);

    await json("ssm", "put-parameter", "--name", "/a/b", "--type", "String", "--value", "c");
    expect(await json("ssm", "get-parameter", "--name", "/a/b")).toMatchObject({ Parameter: { Value: "c" } });
  }, 120_000);
});

import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../support/present.ts";
import { run, type Run, type Server, startServer, template } from "../server.ts";

const programs = present("the aws CLI", ["/usr/bin/aws", "aws"], "--version");

/** Debian's, and the user's own, which may be newer. */
describe.skipIf(programs.length === 0).each(programs)("the aws CLI %s", (program) => {
  const version = spawnSync(program, ["--version"], { encoding: "utf8" }).stdout;
  const isOfVersion1 = version.startsWith("aws-cli/1.");
  /** Others send what `package` uploads to AWS itself, whatever endpoint is given. */
  const knowsEndpointVariable = isOfVersion1 && Number(/^aws-cli\/1\.(\d+)/.exec(version)?.[1]) >= 29;
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

  test("what a stack is and was is shown by all commands that show it", async () => {
    const stack = ["--stack-name", "shown"];
    const role = "arn:aws:iam::123456789012:role/deploys";
    const given = ["--template-body", "file://template.yaml", "--capabilities", "CAPABILITY_IAM"];
    await cloudformation(
      "create-stack",
      ...stack,
      ...given,
      "--role-arn",
      role,
      "--client-request-token",
      "once",
    );
    await cloudformation("wait", "stack-create-complete", ...stack);
    expect(await cloudformation("describe-stacks", ...stack)).toMatchObject({
      Stacks: [{ RoleARN: role, Capabilities: ["CAPABILITY_IAM"] }],
    });
    expect(await cloudformation("get-template", ...stack)).toMatchObject({ TemplateBody: template });
    expect(await cloudformation("get-template-summary", ...stack)).toMatchObject({
      ResourceTypes: ["AWS::IAM::Role", "AWS::Lambda::Function", "Custom::Mine"],
      Capabilities: ["CAPABILITY_IAM"],
    });
    const mine = { LogicalResourceId: "Mine", PhysicalResourceId: "mine", ResourceStatus: "CREATE_COMPLETE" };
    expect(
      await cloudformation("describe-stack-resource", ...stack, "--logical-resource-id", "Mine"),
    ).toMatchObject({ StackResourceDetail: mine });
    expect(await cloudformation("describe-stack-resources", ...stack)).toMatchObject({
      StackResources: expect.arrayContaining([expect.objectContaining(mine)]),
    });
    expect(await cloudformation("list-stack-resources", ...stack)).toMatchObject({
      StackResourceSummaries: expect.arrayContaining([expect.objectContaining(mine)]),
    });
    expect(await cloudformation("list-stacks", "--stack-status-filter", "CREATE_COMPLETE")).toMatchObject({
      StackSummaries: expect.arrayContaining([expect.objectContaining({ StackName: "shown" })]),
    });
    expect(await cloudformation("list-change-sets", ...stack)).toEqual({ Summaries: [] });
    const again = await aws("cloudformation", "create-stack", ...stack, ...given);
    expect(again.stderr).toContain("(AlreadyExistsException)");
    const refused = await aws("cloudformation", "create-stack", "--stack-name", "no_underscores", ...given);
    expect(refused.stderr).toContain("Value 'no_underscores' at 'stackName' failed to satisfy constraint");
  }, 120_000);

  test.runIf(knowsEndpointVariable)(
    "what package uploads is deployed",
    async () => {
      const code = "exports.handler = async () => ({ packaged: true });";
      await mkdir(join(server.folder, "code"), { recursive: true });
      await writeFile(join(server.folder, "code", "index.js"), code);
      const local = template
        .replace(/Code:\n\s+ZipFile: \|\n(?:\s{10}.*\n)+/, "Code: code\n")
        .split("  Mine:")[0];
      await writeFile(
        join(server.folder, "local.yaml"),
        `${local}Outputs:\n  Function: { Value: !Ref Function }\n`,
      );
      await aws("s3", "mb", "s3://packages");
      const files = ["--template-file", "local.yaml", "--output-template-file", "packaged.yaml"];
      const packaged = await aws("cloudformation", "package", ...files, "--s3-bucket", "packages");
      expect(`${packaged.code} ${packaged.stderr.replace(/\r.*/gs, "")}`).toBe("0 ");
      const deployed = await aws(
        "cloudformation",
        "deploy",
        "--stack-name",
        "packaged",
        "--template-file",
        "packaged.yaml",
        "--capabilities",
        "CAPABILITY_IAM",
      );
      expect(deployed.stdout).toContain("Successfully created/updated stack - packaged");
      const described = (await cloudformation("describe-stacks", "--stack-name", "packaged")) as {
        readonly Stacks: readonly { readonly Outputs: readonly { readonly OutputValue: string }[] }[];
      };
      const name = described.Stacks[0]?.Outputs[0]?.OutputValue ?? "";
      await json("lambda", "invoke", "--function-name", name, "packaged.json");
      expect(await readFile(join(server.folder, "packaged.json"), "utf8")).toBe('{"packaged":true}');
    },
    120_000,
  );
});

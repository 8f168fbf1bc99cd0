import { typeOf } from "../../services/parameter-rules.ts";
import type { FoundParameter } from "../../services/parameters.ts";
import { mask } from "../../template/value.ts";
import { type Call, type Command, sharedOptions } from "../command.ts";
import { CliFault, type ExitCode } from "../fault.ts";
import { actionOf, fileOption, givenValue, needed } from "../given-value.ts";
import { printable } from "../printable.ts";
import { writeJson } from "../read-stacks.ts";
import { formatTable } from "../table.ts";
import { scopeOfCall, withServices } from "../with-services.ts";

export const ssm: Command = {
  name: "ssm",
  summary: "put, get, list or delete SSM parameters",
  details:
    "Works on the local Parameter Store, where {{resolve:ssm:…}}, parameters of the types AWS::SSM::Parameter::Value<…>, " +
    "AWS::SSM::Parameter and functions find their parameters. put makes a new version when there is one already. " +
    "AWS's own names under /aws/ can be put as well: there are none until you do. SecureStrings show as ***** without --decrypt.",
  arguments: [
    { name: "ACTION", description: "put, get, list or delete", required: true },
    { name: "NAME", description: "name of the parameter; for list, a path to list below", required: false },
    { name: "VALUE", description: "value to put", required: false },
  ],
  options: [
    {
      flags: "--type <type>",
      description: "String, StringList or SecureString (default: String, or what it is)",
    },
    fileOption,
    { flags: "--decrypt", description: "show SecureStrings" },
    sharedOptions.state,
    { flags: "--region <region>", description: "region of the parameter (default: us-east-1)" },
    { flags: "--account <id>", description: "account of the parameter, 12 digits" },
    sharedOptions.json,
  ],
  examples: [
    "custard ssm put /app/size small",
    "custard ssm put /app/password --type SecureString --file password.txt",
    "custard ssm get /app/size",
    "custard ssm list /app",
  ],
  run: runSsm,
};

const actions = ["put", "get", "list", "delete"] as const;

async function runSsm(call: Call): Promise<ExitCode> {
  switch (actionOf(call, actions)) {
    case "put":
      return await put(call);
    case "get":
      return await get(call);
    case "list":
      return await list(call);
    case "delete":
      return await remove(call);
  }
}

async function put(call: Call): Promise<ExitCode> {
  const name = needed(call, "NAME", "put");
  const value = await givenValue(call);
  const type = call.text("type");
  const scope = scopeOfCall(call);
  const made = await withServices(call, async ({ parameters }) => {
    const before = await parameters.find(scope, name);
    const wanted = type === undefined ? (before?.type ?? "String") : typeOf(type);
    const input = { name, value, type: wanted, overwrite: true, allowReserved: true };
    return await parameters.put(scope, input);
  });
  if (call.json) writeJson(call, toJson(call, made));
  else call.io.stdout.write(`${made.name} is at version ${made.version}.\n`);
  return 0;
}

async function get(call: Call): Promise<ExitCode> {
  const name = needed(call, "NAME", "get");
  const found = await withServices(call, ({ parameters }) => parameters.find(scopeOfCall(call), name));
  if (found === undefined) throw missing(name);
  if (call.json) writeJson(call, toJson(call, found));
  else call.io.stdout.write(`${shownValue(call, found)}\n`);
  return 0;
}

async function list(call: Call): Promise<ExitCode> {
  const path = call.argument("NAME");
  const scope = scopeOfCall(call);
  const found = await withServices(call, async ({ parameters }) =>
    path === undefined
      ? await parameters.list(scope)
      : await parameters.byPath(scope, path, { recursive: true }),
  );
  if (call.json)
    writeJson(
      call,
      found.map((parameter) => toJson(call, parameter)),
    );
  else call.io.stdout.write(`${formatParameters(call, found)}\n`);
  return 0;
}

async function remove(call: Call): Promise<ExitCode> {
  const name = needed(call, "NAME", "delete");
  const scope = scopeOfCall(call);
  await withServices(call, async ({ parameters }) => {
    if ((await parameters.find(scope, name)) === undefined) throw missing(name);
    await parameters.delete(scope, name);
  });
  if (call.json) writeJson(call, { name, deleted: true });
  else call.io.stdout.write(`${name} is deleted.\n`);
  return 0;
}

function formatParameters(call: Call, parameters: readonly FoundParameter[]): string {
  if (parameters.length === 0) return "There are no parameters here.";
  const rows = parameters.map((parameter) => [
    parameter.name,
    parameter.type,
    String(parameter.version),
    printable(shownValue(call, parameter)),
  ]);
  return formatTable([["NAME", "TYPE", "VERSION", "VALUE"], ...rows]).join("\n");
}

function toJson(call: Call, parameter: FoundParameter): object {
  const { name, type, version, arn, modifiedAt } = parameter;
  const value = shownValue(call, parameter);
  return { name, type, version, value, arn, modifiedAt: new Date(modifiedAt).toISOString() };
}

function shownValue(call: Call, { type, value }: FoundParameter): string {
  return type === "SecureString" && !call.flag("decrypt") ? mask : value;
}

function missing(name: string): CliFault {
  return new CliFault(`There is no parameter ${name}`, {
    advice: "custard ssm list shows those that there are; --region and --account name other places.",
  });
}

/** Lambda's operations on who may call a function: kept and shown, and asked by nobody. */
import type { Json, JsonObject } from "@custard/provider/protocol";
import { formatFunctionArn, type FunctionReference } from "../../../services/function-arn.ts";
import { FunctionError } from "../../../services/function-error.ts";
import type { ApiCall } from "../../service.ts";
import { functionOf, type Handle, type LambdaWorld } from "./world.ts";

export const addPermission: Handle = async (call, world) => {
  const { input } = call;
  const reference = await existing(call, world);
  const id = input.need("StatementId");
  const statements = await statementsOf(reference, world);
  if (statements.some(({ Sid }) => Sid === id))
    throw new FunctionError(
      "Conflict",
      `The statement id (${id}) provided already exists. Please provide a new statement id, or remove the existing statement.`,
    );
  const statement = toStatement(call, reference);
  await world.documents.put(keyOf(reference), [...statements, statement]);
  return { Statement: JSON.stringify(statement) };
};

export const removePermission: Handle = async (call, world) => {
  const reference = await existing(call, world);
  const id = call.input.need("StatementId");
  const statements = await statementsOf(reference, world);
  const kept = statements.filter(({ Sid }) => Sid !== id);
  if (kept.length === statements.length)
    throw new FunctionError("NotFound", `Statement ${id} is not found in resource policy.`);
  if (kept.length === 0) await world.documents.delete(keyOf(reference));
  else await world.documents.put(keyOf(reference), kept);
  return {};
};

export const getPolicy: Handle = async (call, world) => {
  const reference = await existing(call, world);
  const statements = await statementsOf(reference, world);
  if (statements.length === 0)
    throw new FunctionError("NotFound", "The resource you requested does not exist.");
  return {
    Policy: JSON.stringify({ Version: "2012-10-17", Id: "default", Statement: statements }),
    RevisionId: String(statements.length),
  };
};

async function existing(call: ApiCall, { functions }: LambdaWorld): Promise<FunctionReference> {
  return (await functions.resolve(functionOf(call, call.input.text("Qualifier")))).reference;
}

function toStatement({ input }: ApiCall, reference: FunctionReference): JsonObject {
  const principal = input.need("Principal");
  const [arn, account] = [input.text("SourceArn"), input.text("SourceAccount")];
  const condition = {
    ...(arn === undefined ? {} : { ArnLike: { "AWS:SourceArn": arn } }),
    ...(account === undefined ? {} : { StringEquals: { "AWS:SourceAccount": account } }),
  };
  return {
    Sid: input.need("StatementId"),
    Effect: "Allow",
    Principal: principal.endsWith(".amazonaws.com") ? { Service: principal } : { AWS: principal },
    Action: input.need("Action"),
    Resource: formatFunctionArn(reference),
    ...(Object.keys(condition).length === 0 ? {} : { Condition: condition }),
  };
}

async function statementsOf(
  reference: FunctionReference,
  { documents }: LambdaWorld,
): Promise<readonly JsonObject[]> {
  const value: Json | undefined = await documents.get(keyOf(reference));
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function keyOf({ partition, account, region, name, qualifier }: FunctionReference): string {
  return `function-permission/${partition}/${account}/${region}/${name}/${qualifier ?? ""}`;
}

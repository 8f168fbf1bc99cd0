/** Operations on whole stacks. */
import type { OnFailure } from "../../../engine/stack.ts";
import { StackError } from "../../../engine/stack-error.ts";
import type { StackId } from "../../../engine/ids.ts";
import type { OperationView, StackView } from "../../../engine/views.ts";
import type { StackSummary } from "../../../engine/ports.ts";
import { definedOf } from "../../defined.ts";
import type { Input } from "../../input.ts";
import { pageOf } from "../../pages.ts";
import type { ApiCall, Handler, Scope } from "../../service.ts";
import type { WireObject } from "../../wire.ts";
import { validationError } from "./errors.ts";
import { holdUntilSettled } from "./hold.ts";
import { choiceOf, policyOf, toStackInput } from "./inputs.ts";
import { roleOf } from "./terms.ts";
import { toOperations, toStack } from "./views.ts";
import { bracketed, type CloudFormationWorld, missingAs, referenceOf } from "./world.ts";

type Handle = Handler<CloudFormationWorld>;

const pageSize = 100;
const failures = ["DO_NOTHING", "ROLLBACK", "DELETE"] as const satisfies readonly OnFailure[];

export const createStack: Handle = async (call, world) => {
  const { input } = call;
  const wanted = await toStackInput(call, world);
  const stackId = await world.engine.createStack({
    ...wanted,
    ...definedOf({
      disableRollback: rollbackDisabled(input),
      onFailure: choiceOf(input, "OnFailure", failures),
      clientRequestToken: input.text("ClientRequestToken"),
      terminationProtection: input.flag("EnableTerminationProtection"),
      retainExceptOnCreate: input.flag("RetainExceptOnCreate"),
      timeoutMinutes: input.number("TimeoutInMinutes"),
      stackPolicy: await policyOf(call, world, "StackPolicy"),
    }),
  });
  return { StackId: stackId, OperationId: await operationId(stackId, "CREATE_STACK", world) };
};

export const updateStack: Handle = async (call, world) => {
  const { input } = call;
  const name = input.need("StackName");
  const before = await missingAs(name, bracketed, async () => world.engine.stack(referenceOf(name, call)));
  const stackId = await world.engine.updateStack({
    ...(await toStackInput(call, world, { before })),
    ...definedOf({
      usePreviousTemplate: input.flag("UsePreviousTemplate"),
      disableRollback: rollbackDisabled(input),
      clientRequestToken: input.text("ClientRequestToken"),
      retainExceptOnCreate: input.flag("RetainExceptOnCreate"),
      stackPolicy: await policyOf(call, world, "StackPolicy"),
      stackPolicyDuringUpdate: await policyOf(call, world, "StackPolicyDuringUpdate"),
    }),
  });
  return { StackId: stackId, OperationId: await operationId(stackId, "UPDATE_STACK", world) };
};

/** Deleting what isn't there succeeds (fact 110). */
export const deleteStack: Handle = async (call, world) => {
  const { input } = call;
  const stack = input.need("StackName");
  const mode = choiceOf(input, "DeletionMode", ["STANDARD", "FORCE_DELETE_STACK"]);
  try {
    await world.engine.deleteStack({
      ...referenceOf(stack, call),
      force: mode === "FORCE_DELETE_STACK",
      terms: { ...roleOf(input), ...definedOf({ deletionMode: mode }) },
      ...definedOf({
        retain: input.texts("RetainResources"),
        clientRequestToken: input.text("ClientRequestToken"),
      }),
    });
  } catch (error) {
    if (!(error instanceof StackError) || error.code !== "StackNotFound") throw error;
  }
  return {};
};

export const cancelUpdateStack: Handle = async (call, world) => {
  const stack = call.input.need("StackName");
  const token = definedOf({ clientRequestToken: call.input.text("ClientRequestToken") });
  await missingAs(stack, bracketed, async () =>
    world.engine.cancelUpdate({ ...referenceOf(stack, call), ...token }),
  );
  return {};
};

export const continueUpdateRollback: Handle = async (call, world) => {
  const { input } = call;
  const stack = input.need("StackName");
  await missingAs(stack, bracketed, async () =>
    world.engine.continueUpdateRollback({
      ...referenceOf(stack, call),
      ...definedOf({
        skip: input.texts("ResourcesToSkip"),
        terms: roleOf(input),
        clientRequestToken: input.text("ClientRequestToken"),
      }),
    }),
  );
  return {};
};

export const rollbackStack: Handle = async (call, world) => {
  const { input } = call;
  const stack = input.need("StackName");
  const stackId = await missingAs(stack, bracketed, async () =>
    world.engine.rollbackStack({
      ...referenceOf(stack, call),
      ...definedOf({
        retainExceptOnCreate: input.flag("RetainExceptOnCreate"),
        clientRequestToken: input.text("ClientRequestToken"),
        terms: roleOf(input),
      }),
    }),
  );
  return { StackId: stackId, OperationId: await operationId(stackId, "ROLLBACK", world) };
};

export const updateTerminationProtection: Handle = async (call, world) => {
  const stack = call.input.need("StackName");
  const enabled = call.input.flag("EnableTerminationProtection") ?? false;
  const stackId = await missingAs(stack, bracketed, async () =>
    world.engine.setTerminationProtection(referenceOf(stack, call), enabled),
  );
  return { StackId: stackId };
};

export const setStackPolicy: Handle = async (call, world) => {
  const stack = call.input.need("StackName");
  const policy = await policyOf(call, world, "StackPolicy");
  if (policy === undefined)
    throw validationError("You must specify either StackPolicyURL or StackPolicyBody");
  await missingAs(stack, bracketed, async () =>
    world.engine.setStackPolicy(referenceOf(stack, call), policy),
  );
  return {};
};

export const getStackPolicy: Handle = async (call, world) => {
  const stack = call.input.need("StackName");
  const policy = await missingAs(stack, bracketed, async () =>
    world.engine.stackPolicy(referenceOf(stack, call)),
  );
  return { StackPolicyBody: policy };
};

export const signalResource: Handle = async (call, world) => {
  const { input } = call;
  const stack = input.need("StackName");
  const status = choiceOf(input, "Status", ["SUCCESS", "FAILURE"]) ?? "SUCCESS";
  await missingAs(stack, bracketed, async () =>
    world.engine.signalResource({
      ...referenceOf(stack, call),
      logicalId: input.need("LogicalResourceId"),
      uniqueId: input.need("UniqueId"),
      status,
    }),
  );
  return {};
};

/** One stack, held while somebody waits for it; without a name all that aren't deleted, newest first. */
export const describeStacks: Handle = async (call, world) => {
  const name = call.input.text("StackName");
  if (name !== undefined && name !== "") {
    const stack = await world.engine.stack(referenceOf(name, call));
    return { Stacks: [toStack(await holdUntilSettled(stack, call, world))] };
  }
  const live = (await summariesIn(call.scope, world)).filter(({ status }) => status !== "DELETE_COMPLETE");
  const { items, next } = pageOf(live, {
    keyOf: ({ stackId }) => stackId,
    size: pageSize,
    token: call.input.text("NextToken"),
  });
  const stacks = await Promise.all(items.map(async ({ stackId }) => world.engine.stack(stackId)));
  return { Stacks: stacks.map(toStack), NextToken: next };
};

export const listStacks: Handle = async (call, world) => {
  const statuses = call.input.texts("StackStatusFilter") ?? [];
  const summaries = await summariesIn(call.scope, world);
  const wanted = summaries.filter(({ status }) => statuses.length === 0 || statuses.includes(status));
  const { items, next } = pageOf(wanted, {
    keyOf: ({ stackId }) => stackId,
    size: pageSize,
    token: call.input.text("NextToken"),
  });
  const stacks = await Promise.all(items.map(async ({ stackId }) => world.engine.stack(stackId)));
  return { StackSummaries: stacks.map(toSummary), NextToken: next };
};

export const listExports: Handle = async (call, world) => {
  const { region, account } = call.scope;
  const { items, next } = pageOf(await world.engine.exports({ region, account }), {
    keyOf: ({ name }) => name,
    size: pageSize,
    token: call.input.text("NextToken"),
  });
  return {
    Exports: items.map(({ name, value, stackId }) => ({
      Name: name,
      Value: value,
      ExportingStackId: stackId,
    })),
    NextToken: next,
  };
};

export const listImports: Handle = async (call, world) => {
  const { region, account } = call.scope;
  const names = await world.engine.importers(call.input.need("ExportName"), { region, account });
  const { items, next } = pageOf(names, {
    keyOf: (name) => name,
    size: pageSize,
    token: call.input.text("NextToken"),
  });
  return { Imports: items, NextToken: next };
};

/** CloudFormation's own default quotas. Nothing here is refused for them. */
export const describeAccountLimits: Handle = async () => ({
  AccountLimits: [
    { Name: "StackLimit", Value: 2000 },
    { Name: "StackOutputsLimit", Value: 200 },
    { Name: "ConcurrentResourcesLimitDefault", Value: 2500 },
  ],
});

/** The stacks of a scope, newest first, deleted ones too. */
export async function summariesIn(
  { region, account }: Scope,
  { engine }: CloudFormationWorld,
): Promise<readonly StackSummary[]> {
  const all = await engine.stacks();
  return all.filter((stack) => stack.region === region && stack.account === account).toReversed();
}

/** A stack that must be there, in a text of the operation's own. */
export async function stackOf(
  call: ApiCall,
  world: CloudFormationWorld,
  text: (stack: string) => string,
): Promise<StackView> {
  const stack = call.input.need("StackName");
  return await missingAs(stack, text, async () => world.engine.stack(referenceOf(stack, call)));
}

/** The id of the last operation of a kind. A creation that has failed by now has its rollback in front of it. */
async function operationId(
  stackId: StackId,
  type: OperationView["type"],
  { engine }: CloudFormationWorld,
): Promise<string | undefined> {
  const { lastOperations } = await engine.stack(stackId);
  return lastOperations.find((operation) => operation.type === type)?.id;
}

/** It may be said in either place. */
function rollbackDisabled(input: Input): boolean | undefined {
  return input.flag("DisableRollback") ?? input.object("DeploymentConfig")?.flag("DisableRollback");
}

function toSummary(view: StackView): WireObject {
  return {
    StackId: view.stackId,
    StackName: view.stackName,
    TemplateDescription: view.description,
    CreationTime: view.createdAt,
    LastUpdatedTime: view.updatedAt,
    DeletionTime: view.deletedAt,
    StackStatus: view.status,
    StackStatusReason: view.reason,
    ParentId: view.parentId,
    RootId: view.rootId,
    DriftInformation: { StackDriftStatus: "NOT_CHECKED" },
    LastOperations: toOperations(view.lastOperations),
  };
}

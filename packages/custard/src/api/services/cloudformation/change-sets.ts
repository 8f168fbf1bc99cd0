/** Operations on change sets. */
import type { ChangeSetReference } from "../../../engine/inputs.ts";
import { StackError } from "../../../engine/stack-error.ts";
import type { OnFailure } from "../../../engine/stack.ts";
import type { ChangeSetSummary, StackView } from "../../../engine/views.ts";
import { definedOf } from "../../defined.ts";
import { pageOf } from "../../pages.ts";
import type { ApiCall, Handler } from "../../service.ts";
import { toTags } from "../../tags.ts";
import type { WireObject } from "../../wire.ts";
import { choiceOf, toStackInput } from "./inputs.ts";
import { toDeployment, toRollback } from "./terms.ts";
import { toChange, toParameters } from "./views.ts";
import { bracketed, type CloudFormationWorld, isElsewhere, missingAs, referenceOf } from "./world.ts";

type Handle = Handler<CloudFormationWorld>;

const pageSize = 100;
const failures = ["DO_NOTHING", "ROLLBACK", "DELETE"] as const satisfies readonly OnFailure[];

export const createChangeSet: Handle = async (call, world) => {
  const { input } = call;
  const before = await existing(call, world);
  const { changeSetId, stackId } = await world.engine.changeSets.create({
    ...(await toStackInput(call, world, { before, isChangeSet: true })),
    changeSetName: input.need("ChangeSetName"),
    ...definedOf({
      usePreviousTemplate: input.flag("UsePreviousTemplate"),
      changeSetType: choiceOf(input, "ChangeSetType", ["CREATE", "UPDATE", "IMPORT"]),
      description: input.text("Description"),
      onStackFailure: choiceOf(input, "OnStackFailure", failures),
      clientToken: input.text("ClientToken"),
      importExisting: input.flag("ImportExistingResources"),
      includeNestedStacks: input.flag("IncludeNestedStacks"),
    }),
  });
  return { Id: changeSetId, StackId: stackId };
};

export const describeChangeSet: Handle = async (call, world) => {
  const values = call.input.flag("IncludePropertyValues") ?? false;
  const view = await world.engine.changeSets.describe({
    ...changeSetOf(call),
    includePropertyValues: values,
  });
  const { items, next } = pageOf(view.changes, {
    keyOf: ({ logicalId, action }) => `${action} ${logicalId}`,
    size: pageSize,
    token: call.input.text("NextToken"),
  });
  return {
    ...toSummary(view),
    Parameters: toParameters(view.parameters),
    NotificationARNs: view.notificationArns,
    RollbackConfiguration: toRollback(view.terms),
    Capabilities: view.terms.capabilities,
    Tags: toTags(view.tags),
    Changes: items.map(toChange),
    OnStackFailure: view.onStackFailure,
    DeploymentConfig: toDeployment(view.terms),
    NextToken: next,
  };
};

/** Hooks are AWS's alone: a change set here has none. */
export const describeChangeSetHooks: Handle = async (call, world) => {
  const view = await world.engine.changeSets.describe(changeSetOf(call));
  return {
    ChangeSetId: view.changeSetId,
    ChangeSetName: view.changeSetName,
    StackId: view.stackId,
    StackName: view.stackName,
    Hooks: [],
    Status: "PLANNED",
  };
};

export const listChangeSets: Handle = async (call, world) => {
  const stack = call.input.need("StackName");
  const all = await missingAs(stack, bracketed, async () =>
    world.engine.changeSets.list(referenceOf(stack, call)),
  );
  const { items, next } = pageOf(all, {
    keyOf: ({ changeSetId }) => changeSetId,
    size: pageSize,
    token: call.input.text("NextToken"),
  });
  return { Summaries: items.map(toSummary), NextToken: next };
};

export const deleteChangeSet: Handle = async (call, world) => {
  await world.engine.changeSets.delete(changeSetOf(call));
  return {};
};

export const executeChangeSet: Handle = async (call, world) => {
  const { input } = call;
  await world.engine.changeSets.execute({
    ...changeSetOf(call),
    ...definedOf({
      disableRollback: input.flag("DisableRollback"),
      retainExceptOnCreate: input.flag("RetainExceptOnCreate"),
      clientRequestToken: input.text("ClientRequestToken"),
    }),
  });
  return {};
};

/** Which change set a call is about. One of elsewhere isn't there. */
export function changeSetOf(call: ApiCall): ChangeSetReference {
  const changeSet = call.input.need("ChangeSetName");
  const stack = call.input.text("StackName");
  const { region, account } = call.scope;
  if (isElsewhere(changeSet, call.scope))
    throw new StackError("ChangeSetNotFound", `ChangeSet [${changeSet}] does not exist`);
  if (stack !== undefined && isElsewhere(stack, call.scope))
    throw new StackError("StackNotFound", bracketed(stack));
  return { changeSet, region, account, ...(stack === undefined ? {} : { stack }) };
}

/** The stack that a change set is made for, when there is one: what the call leaves out is taken from it. */
async function existing(call: ApiCall, world: CloudFormationWorld): Promise<StackView | undefined> {
  const stack = call.input.need("StackName");
  try {
    return await world.engine.stack(referenceOf(stack, call));
  } catch (error) {
    if (error instanceof StackError && error.code === "StackNotFound") return undefined;
    throw error;
  }
}

function toSummary(view: ChangeSetSummary): WireObject {
  return {
    ChangeSetName: view.changeSetName,
    ChangeSetId: view.changeSetId,
    StackId: view.stackId,
    StackName: view.stackName,
    Description: view.description,
    CreationTime: view.createdAt,
    ExecutionStatus: view.executionStatus,
    Status: view.status,
    StatusReason: view.reason,
    IncludeNestedStacks: view.includesNested,
    ParentChangeSetId: view.nestedIn?.parent,
    RootChangeSetId: view.nestedIn?.root,
    ImportExistingResources: view.importExisting,
  };
}

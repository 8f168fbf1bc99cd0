/** Step Functions: its operations, over the local state machines. */
import { StateMachineError } from "../../services/state-machine-error.ts";
import type { ExecutionRecord, StateMachine, StateMachines } from "../../services/state-machines.ts";
import { ApiError } from "../api-error.ts";
import { definedOf } from "../defined.ts";
import { pageOf } from "../pages.ts";
import type { ApiCall, Handler, Service } from "../service.ts";
import type { WireObject } from "../wire.ts";

/** What Step Functions works on. */
export interface StepFunctionsWorld {
  readonly stateMachines: StateMachines;
  readonly now: () => number;
}

type Handle = Handler<StepFunctionsWorld>;

const createStateMachine: Handle = async ({ input, scope }, { stateMachines }) => {
  const tags = input.objects("tags").map((tag) => [tag.text("key") ?? "", tag.text("value") ?? ""] as const);
  const made = await stateMachines.create(scope, {
    name: input.need("name"),
    definition: input.need("definition"),
    roleArn: input.need("roleArn"),
    type: input.text("type") === "EXPRESS" ? "EXPRESS" : "STANDARD",
    tags: Object.fromEntries(tags),
  });
  return { stateMachineArn: made.arn, creationDate: made.createdAt };
};

const updateStateMachine: Handle = async ({ input }, { stateMachines, now }) => {
  const { revisionId } = await stateMachines.update(
    input.need("stateMachineArn"),
    definedOf({ definition: input.text("definition"), roleArn: input.text("roleArn") }),
  );
  return { updateDate: now(), revisionId };
};

const describeStateMachine: Handle = async ({ input }, { stateMachines }) => {
  const machine = await stateMachines.get(input.need("stateMachineArn"));
  return {
    ...toListed(machine),
    definition: machine.definition,
    roleArn: machine.roleArn,
    status: "ACTIVE",
    revisionId: machine.revisionId,
  };
};

const listStateMachines: Handle = async (call, { stateMachines }) => {
  const { items, next } = page(call, await stateMachines.list(call.scope));
  return { stateMachines: items.map(toListed), nextToken: next };
};

const deleteStateMachine: Handle = async ({ input }, { stateMachines }) => {
  await stateMachines.delete(input.need("stateMachineArn"));
  return {};
};

const startExecution: Handle = async ({ input }, { stateMachines }) => {
  const execution = await stateMachines.start(
    input.need("stateMachineArn"),
    definedOf({ name: input.text("name"), input: input.text("input") }),
  );
  return { executionArn: execution.arn, startDate: execution.startedAt };
};

const describeExecution: Handle = async ({ input }, { stateMachines }) => {
  const execution = await stateMachines.execution(input.need("executionArn"));
  const { state } = execution;
  return {
    ...toExecution(execution),
    input: execution.input,
    ...(state.status === "SUCCEEDED" ? { output: state.output } : {}),
    ...("error" in state ? { error: state.error, cause: state.cause } : {}),
  };
};

const listExecutions: Handle = async (call, { stateMachines }) => {
  const status = call.input.text("statusFilter");
  const all = await stateMachines.executions(call.input.need("stateMachineArn"));
  const wanted = all.filter(({ state }) => status === undefined || state.status === status);
  const { items, next } = page(call, wanted);
  return { executions: items.map(toExecution), nextToken: next };
};

const stopExecution: Handle = async ({ input }, { stateMachines, now }) => {
  const reason = definedOf({ error: input.text("error"), cause: input.text("cause") });
  await stateMachines.stop(input.need("executionArn"), reason);
  return { stopDate: now() };
};

export const stepFunctions: Service<StepFunctionsWorld> = {
  name: "states",
  operations: {
    CreateStateMachine: createStateMachine,
    DeleteStateMachine: deleteStateMachine,
    DescribeExecution: describeExecution,
    DescribeStateMachine: describeStateMachine,
    ListExecutions: listExecutions,
    ListStateMachines: listStateMachines,
    StartExecution: startExecution,
    StopExecution: stopExecution,
    UpdateStateMachine: updateStateMachine,
  },
  explain: (error) =>
    error instanceof StateMachineError ? new ApiError(error.code, error.message) : undefined,
};

function page<Item extends { readonly arn: string }>({ input }: ApiCall, items: readonly Item[]) {
  return pageOf(items, {
    keyOf: ({ arn }) => arn,
    size: input.number("maxResults") ?? 100,
    token: input.text("nextToken"),
    code: "InvalidToken",
  });
}

function toListed({ arn, name, type, createdAt }: StateMachine): WireObject {
  return { stateMachineArn: arn, name, type, creationDate: createdAt };
}

function toExecution({ arn, machineArn, name, startedAt, state }: ExecutionRecord): WireObject {
  return {
    executionArn: arn,
    stateMachineArn: machineArn,
    name,
    status: state.status,
    startDate: startedAt,
    ...("stoppedAt" in state ? { stopDate: state.stoppedAt } : {}),
  };
}

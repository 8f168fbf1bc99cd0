/** Step Functions: its operations, over the local state machines. */
import { StateMachineError } from "../../services/state-machine-error.ts";
import type { ExecutionRecord, StateMachine, StateMachines } from "../../services/state-machines.ts";
import { parseDefinition } from "../../services/states/definition.ts";
import { ApiError } from "../api-error.ts";
import { definedOf } from "../defined.ts";
import type { Input } from "../input.ts";
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
  const made = await stateMachines.create(scope, {
    name: input.need("name"),
    definition: input.need("definition"),
    roleArn: input.need("roleArn"),
    type: input.text("type") === "EXPRESS" ? "EXPRESS" : "STANDARD",
    tags: tagsIn(input),
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

/** As it was when the execution began. */
const describeStateMachineForExecution: Handle = async ({ input }, { stateMachines }) => {
  const execution = await stateMachines.execution(input.need("executionArn"));
  const machine = await stateMachines.find(execution.machineArn);
  return {
    stateMachineArn: execution.machineArn,
    name: execution.machineName,
    definition: execution.definition,
    roleArn: execution.roleArn,
    updateDate: machine?.createdAt ?? execution.startedAt,
  };
};

/** Of machines of type EXPRESS: answers when the execution has ended. */
const startSyncExecution: Handle = async ({ input }, { stateMachines, now }) => {
  const machine = await stateMachines.get(input.need("stateMachineArn"));
  if (machine.type !== "EXPRESS")
    throw new ApiError(
      "StateMachineTypeNotSupported",
      "This operation is not supported by this type of state machine",
    );
  const started = await stateMachines.start(
    machine.arn,
    definedOf({ name: input.text("name"), input: input.text("input") }),
  );
  const execution = await stateMachines.settled(started.arn);
  const { state, startedAt } = execution;
  const stopped = "stoppedAt" in state ? state.stoppedAt : now();
  return {
    ...toExecution(execution),
    stopDate: stopped,
    input: execution.input,
    ...(state.status === "SUCCEEDED" ? { output: state.output } : {}),
    ...("error" in state ? { error: state.error, cause: state.cause } : {}),
    billingDetails: { billedMemoryUsedInMB: 64, billedDurationInMilliseconds: stopped - startedAt },
  };
};

const validateStateMachineDefinition: Handle = async ({ input }) => {
  const parsed = parseDefinition(input.need("definition"));
  const faults = parsed.ok ? [] : parsed.faults;
  return {
    result: parsed.ok ? "OK" : "FAIL",
    diagnostics: faults.map((fault) => {
      const [, code = "SCHEMA_VALIDATION_FAILED", message = fault] = /^([A-Z_]+): (.*)$/s.exec(fault) ?? [];
      return { severity: "ERROR", code, message };
    }),
    truncated: false,
  };
};

const tagResource: Handle = async ({ input }, { stateMachines }) => {
  const { arn, tags } = await stateMachines.get(input.need("resourceArn"));
  await stateMachines.update(arn, { tags: { ...tags, ...tagsIn(input) } });
  return {};
};

const untagResource: Handle = async ({ input }, { stateMachines }) => {
  const { arn, tags } = await stateMachines.get(input.need("resourceArn"));
  const removed = input.texts("tagKeys") ?? [];
  const kept = Object.entries(tags).filter(([key]) => !removed.includes(key));
  await stateMachines.update(arn, { tags: Object.fromEntries(kept) });
  return {};
};

const listTagsForResource: Handle = async ({ input }, { stateMachines }) => {
  const { tags } = await stateMachines.get(input.need("resourceArn"));
  return { tags: Object.entries(tags).map(([key, value]) => ({ key, value })) };
};

export const stepFunctions: Service<StepFunctionsWorld> = {
  name: "states",
  operations: {
    CreateStateMachine: createStateMachine,
    DeleteStateMachine: deleteStateMachine,
    DescribeExecution: describeExecution,
    DescribeStateMachine: describeStateMachine,
    DescribeStateMachineForExecution: describeStateMachineForExecution,
    ListExecutions: listExecutions,
    ListStateMachines: listStateMachines,
    ListTagsForResource: listTagsForResource,
    StartExecution: startExecution,
    StartSyncExecution: startSyncExecution,
    StopExecution: stopExecution,
    TagResource: tagResource,
    UntagResource: untagResource,
    UpdateStateMachine: updateStateMachine,
    ValidateStateMachineDefinition: validateStateMachineDefinition,
  },
  explain: (error) =>
    error instanceof StateMachineError ? new ApiError(error.code, error.message) : undefined,
};

function tagsIn(input: Input): Readonly<Record<string, string>> {
  const tags = input.objects("tags");
  return Object.fromEntries(tags.map((tag) => [tag.text("key") ?? "", tag.text("value") ?? ""]));
}

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

import type { LogicalId, PhysicalId, RequestId, StackId } from "../../../packages/custard/src/engine/ids.ts";
import type { StackSummary } from "../../../packages/custard/src/engine/ports.ts";
import { StackError } from "../../../packages/custard/src/engine/stack-error.ts";
import type { StackEvent, StackView } from "../../../packages/custard/src/engine/views.ts";
import type { Doors, Opened } from "../../../packages/custard/src/cli/opened.ts";
import { BufferedTraces, MemoryTraceStore } from "../../../packages/custard/src/services/traces.ts";

/** The one stack of a scripted engine: what happens to it is what a test says. */
export interface ScriptedLocal {
  readonly doors: Doors;
  /** What the command line asked of the engine. */
  readonly calls: string[];
  readonly traces: BufferedTraces;
  /** Says that something happened to a resource, or with the stack's own name to the stack. */
  emit(logicalId: string, status: string, details?: Partial<StackEvent>): void;
  /** The stack's last event: watchers end. */
  settle(status: string, details?: Partial<StackEvent>): void;
}

export const stackId = "arn:aws:cloudformation:us-east-1:123456789012:stack/shop/1b4e28ba" as StackId;
const stackName = "shop";

/** A stand-in for the engine, for what the command line itself decides: what it asks, shows and returns. */
export function scriptedLocal(
  start: {
    readonly status?: string;
    readonly view?: Partial<StackView>;
    /** The process that does the work, when that is another. */
    readonly server?: { readonly pid: number };
  } = {},
): ScriptedLocal {
  const events: StackEvent[] = [];
  const waiting = new Set<() => void>();
  const calls: string[] = [];
  const traces = new BufferedTraces(new MemoryTraceStore());
  let status = start.status;
  let settled = true;
  const simulatedTypes = new Set(
    start.view?.resources?.filter(({ simulated }) => simulated).map(({ type }) => type),
  );

  const wake = (): void => {
    for (const resume of waiting) resume();
    waiting.clear();
  };
  const emit: ScriptedLocal["emit"] = (logicalId, newStatus, details = {}) => {
    const ofStack = logicalId === stackName;
    if (ofStack) status = newStatus;
    const sequence = events.length + 1;
    const physicalId = ofStack ? stackId : `id-of-${logicalId}`;
    const resourceType = ofStack ? "AWS::CloudFormation::Stack" : "Custom::Thing";
    const at = Date.UTC(2026, 0, 1, 12, 0, sequence);
    events.push({
      eventId: `event-${sequence}`,
      sequence,
      at,
      stackId,
      stackName,
      logicalId,
      physicalId,
      resourceType,
      status: newStatus,
      ...details,
    });
    wake();
  };
  const begin = (newStatus: string): void => {
    settled = false;
    emit(stackName, newStatus, { reason: "User Initiated" });
  };
  const view = (): StackView => ({
    stackId,
    stackName,
    account: "123456789012",
    region: "us-east-1",
    status: status ?? "CREATE_IN_PROGRESS",
    settled,
    createdAt: 0,
    parameters: [],
    outputs: [{ name: "Color", value: "red" }],
    tags: {},
    resources: [],
    templateBody: "{}",
    terminationProtection: false,
    disableRollback: false,
    notificationArns: [],
    terms: {},
    lastOperations: [],
    ...start.view,
  });
  const summary = (): StackSummary => ({
    stackId,
    stackName,
    account: "123456789012",
    region: "us-east-1",
    status: view().status,
    createdAt: 0,
  });

  const open = async (): Promise<Opened & { readonly traces: BufferedTraces }> => ({
    traces,
    sandbox: false,
    ...(start.server === undefined ? {} : { server: start.server }),
    lambda: { prewarm: async () => undefined },
    request: () => Promise.reject(new Error("no single requests here")),
    async close() {
      calls.push("close");
    },
    types: {
      facts: (type) =>
        simulatedTypes.has(type) ? { kind: "simulated", createOnly: new Set(), snapshots: false } : undefined,
    },
    engine: {
      async createStack(input) {
        calls.push(`createStack ${input.stackName} ${JSON.stringify(input.parameters)}`);
        begin("CREATE_IN_PROGRESS");
        return stackId;
      },
      async updateStack(input) {
        const kept = (input.previousParameters ?? []).join(",");
        calls.push(`updateStack ${input.stackName} ${JSON.stringify(input.parameters)} keeping ${kept}`);
        if (start.view?.templateBody === input.templateBody)
          throw new StackError("NoUpdates", "No updates are to be performed.");
        begin("UPDATE_IN_PROGRESS");
        return stackId;
      },
      async deleteStack(input) {
        calls.push(`deleteStack ${input.stack} ${(input.retain ?? []).join(",")}`);
        begin("DELETE_IN_PROGRESS");
      },
      async cancelUpdate(stack) {
        calls.push(`cancelUpdate ${typeof stack === "string" ? stack : stack.stack}`);
        emit(stackName, "UPDATE_ROLLBACK_IN_PROGRESS", { reason: "Stack update cancelled" });
      },
      stack: async () => view(),
      stacks: async () => (status === undefined ? [] : [summary()]),
      events: async () => [...events],
      resume: async () => (settled ? [] : [stackId]),
      async *watch(_, { after = 0, signal } = {}) {
        for (let next = after; signal?.aborted !== true;) {
          const event = events.find((candidate) => candidate.sequence > next);
          if (event !== undefined) {
            next = event.sequence;
            yield event;
          } else if (settled) {
            return;
          } else {
            await new Promise<void>((resolve) => {
              waiting.add(resolve);
              signal?.addEventListener("abort", () => resolve());
            });
          }
        }
      },
    },
  });

  const settle: ScriptedLocal["settle"] = (newStatus, details) => {
    settled = true;
    emit(stackName, newStatus, details);
  };
  const read = async () => ({ ...(await open()), inUse: () => !settled });
  const services = () => Promise.reject(new Error("no services here"));
  return { doors: { open, read, services }, calls, traces, emit, settle };
}

/** A resource of the scripted stack. */
export function resourceView(
  logicalId: string,
  type: string,
  simulated: boolean,
): StackView["resources"][number] {
  return {
    logicalId: logicalId as LogicalId,
    physicalId: `id-of-${logicalId}` as PhysicalId,
    type,
    status: "CREATE_COMPLETE",
    changedAt: 0,
    simulated,
    properties: {},
    attributes: {},
  };
}

export const requestId = "1b4e28ba-2fa1-41d2-883f-0016d3cca427" as RequestId;

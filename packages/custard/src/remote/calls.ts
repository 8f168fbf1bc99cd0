/** What the command line asks of a running server: everything that it would else do with an engine of its own. */
import { partitionOf } from "@custard/provider/protocol";
import type { Engine, DeleteInput, StackInput } from "../engine/engine.ts";
import type { RequestId, StackId } from "../engine/ids.ts";
import type { StackSummary, TraceEntry } from "../engine/ports.ts";
import type { StackEvent, StackView } from "../engine/views.ts";
import type { Config } from "../services/config.ts";
import type { Runtime } from "../services/function-settings.ts";
import type { InvocationTarget } from "../services/invocation-target.ts";
import type { Services } from "../services/open-services.ts";
import {
  briskSettings,
  type OperationSettings,
  type SettingsInForce,
  type StackPlace,
} from "../services/operation-settings.ts";
import type { EndedRequest, WantedRequest } from "../services/single-requests.ts";
import type { TraceLog } from "../services/traces.ts";

/** How a server runs providers; what a call wants otherwise it must refuse. */
export interface Setup {
  readonly sandbox: boolean;
  readonly responseUrlStyle: "v4" | "v2";
  readonly subscriberHosts: readonly string[];
  /** The interpreter that it was told to use. */
  readonly python?: string;
}

/** What a call may say of the operation that it begins. */
export type Wishes = Pick<OperationSettings, "failFast" | "strict">;

type ParameterStore = Services["parameters"];
type SecretStore = Services["secrets"];

/** The calls. What goes in and comes out is JSON. */
export interface RemoteCalls {
  setup(): Promise<Setup>;
  /** Puts a configuration in force, and what it seeds into that account and region. */
  configure(config: Config, place: { readonly account: string; readonly region: string }): Promise<void>;
  prewarm(runtime: Runtime): Promise<void>;
  createStack(input: StackInput & StackPlace, wishes: Wishes): Promise<StackId>;
  updateStack(input: StackInput & StackPlace, wishes: Wishes): Promise<StackId>;
  deleteStack(input: DeleteInput, wishes: Wishes): Promise<void>;
  cancelUpdate(...given: Parameters<Engine["cancelUpdate"]>): Promise<void>;
  stack(...given: Parameters<Engine["stack"]>): Promise<StackView>;
  stacks(): Promise<readonly StackSummary[]>;
  events(...given: Parameters<Engine["events"]>): Promise<readonly StackEvent[]>;
  /** Events as they happen. */
  watch(stackId: StackId, after: number): AsyncIterable<StackEvent>;
  resume(): Promise<readonly StackId[]>;
  trace(requestId: RequestId): Promise<readonly TraceEntry[]>;
  request(target: InvocationTarget, wanted: Omit<WantedRequest, "serviceToken">): Promise<EndedRequest>;
  putParameter(...given: Parameters<ParameterStore["put"]>): ReturnType<ParameterStore["put"]>;
  findParameter(...given: Parameters<ParameterStore["find"]>): ReturnType<ParameterStore["find"]>;
  listParameters(...given: Parameters<ParameterStore["list"]>): ReturnType<ParameterStore["list"]>;
  parametersByPath(...given: Parameters<ParameterStore["byPath"]>): ReturnType<ParameterStore["byPath"]>;
  deleteParameter(...given: Parameters<ParameterStore["delete"]>): ReturnType<ParameterStore["delete"]>;
  createSecret(...given: Parameters<SecretStore["create"]>): ReturnType<SecretStore["create"]>;
  putSecret(...given: Parameters<SecretStore["put"]>): ReturnType<SecretStore["put"]>;
  describeSecret(...given: Parameters<SecretStore["describe"]>): ReturnType<SecretStore["describe"]>;
  listSecrets(...given: Parameters<SecretStore["list"]>): ReturnType<SecretStore["list"]>;
  deleteSecret(...given: Parameters<SecretStore["delete"]>): ReturnType<SecretStore["delete"]>;
}

/** What a server works with. */
export interface RemoteWorld {
  readonly engine: Engine;
  readonly services: Pick<Services, "parameters" | "secrets" | "config">;
  readonly traces: TraceLog;
  readonly settings: SettingsInForce;
  readonly setup: Setup;
  readonly prewarm: (runtime: Runtime) => Promise<void>;
  readonly request: (
    target: InvocationTarget,
    wanted: Omit<WantedRequest, "serviceToken">,
    signal: AbortSignal,
  ) => Promise<EndedRequest>;
}

/** The calls of one connection; `signal` tells that nobody listens any more. */
export function callsOf(world: RemoteWorld, signal: AbortSignal): RemoteCalls {
  const { engine, services, traces } = world;
  const { parameters, secrets, config } = services;
  return {
    setup: async () => world.setup,
    configure: async (given, place) =>
      config.apply(given, { ...place, partition: partitionOf(place.region) }),
    prewarm: async (runtime) => world.prewarm(runtime),
    createStack: async (input, wishes) =>
      began(world, { place: input, wishes }, async () => engine.createStack(input)),
    updateStack: async (input, wishes) =>
      began(world, { place: input, wishes }, async () => engine.updateStack(input)),
    async deleteStack(input, wishes) {
      const place = await engine.stack(input);
      await began(world, { place, wishes }, async () => {
        await engine.deleteStack(input);
        return place.stackId;
      });
    },
    cancelUpdate: async (stack) => engine.cancelUpdate(stack),
    stack: async (stack) => engine.stack(stack),
    stacks: async () => engine.stacks(),
    events: async (stack) => engine.events(stack),
    async *watch(stackId, after) {
      yield* engine.watch(stackId, { after, signal });
      // What was noted last is stored by then: whoever reads the logs next finds it.
      await traces.ofStack(stackId, 0);
    },
    resume: async () => engine.resume(),
    trace: async (requestId) => traces.ofRequest(requestId),
    request: async (target, wanted) => world.request(target, wanted, signal),
    putParameter: async (...given) => parameters.put(...given),
    findParameter: async (...given) => parameters.find(...given),
    listParameters: async (...given) => parameters.list(...given),
    parametersByPath: async (...given) => parameters.byPath(...given),
    deleteParameter: async (...given) => parameters.delete(...given),
    createSecret: async (...given) => secrets.create(...given),
    putSecret: async (...given) => secrets.put(...given),
    describeSecret: async (...given) => secrets.describe(...given),
    listSecrets: async (...given) => secrets.list(...given),
    deleteSecret: async (...given) => secrets.delete(...given),
  };
}

/** Begins an operation; until it has ended, what its caller wishes holds for it. */
async function began(
  { engine, settings }: RemoteWorld,
  operation: { readonly place: StackPlace; readonly wishes: Wishes },
  begin: () => Promise<StackId>,
): Promise<StackId> {
  const { failFast, strict } = operation.wishes;
  const end = settings.put(operation.place, { ...briskSettings, failFast, strict });
  try {
    const stackId = await begin();
    // Also when the engine is closed, which ends the waiting.
    engine.settled(stackId).then(end, end);
    return stackId;
  } catch (error) {
    end();
    throw error;
  }
}

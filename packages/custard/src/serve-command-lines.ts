/** Wires the command lines that find a state directory in use to the engine that works there. */
import { resolve } from "node:path";
import type { Engine } from "./engine/engine.ts";
import { StackError } from "./engine/stack-error.ts";
import type { LocalOptions } from "./local.ts";
import type { RemoteWorld, Setup } from "./remote/calls.ts";
import { briskSettings, SettingsInForce } from "./services/operation-settings.ts";
import type { LambdaTransport } from "./transports/lambda/lambda-transport.ts";

/** Whoever serves AWS's clients serves the command lines that come while it holds the directory, too. */
export async function serveCommandLines(
  options: LocalOptions,
  world: Omit<RemoteWorld, "setup" | "prewarm"> & {
    readonly lambda: LambdaTransport;
    readonly python: string | undefined;
  },
): Promise<{ close(): Promise<void> } | undefined> {
  const { endpoint, stateDirectory, trouble = () => undefined } = options;
  if (endpoint === undefined) return undefined;
  const { lambda, python, ...rest } = world;
  const { listenForCommandLines } = await import("./remote/listener.ts");
  return await listenForCommandLines({
    stateDirectory: resolve(stateDirectory),
    version: endpoint.version,
    trouble,
    world: {
      ...rest,
      setup: setupOf(options, python),
      prewarm: async (runtime) => lambda.prewarm(runtime),
    },
  });
}

/** What holds for operations of which nobody says anything is what the engine was opened with. */
export function openSettings(options: LocalOptions, engine: () => Engine): SettingsInForce {
  const { failFast, strict, retryDelays, snsRetryScale } = { ...briskSettings, ...options };
  return new SettingsInForce({ failFast, strict, retryDelays, snsRetryScale }, async (stackId) =>
    rootOf(engine(), stackId),
  );
}

function setupOf(options: LocalOptions, python: string | undefined): Setup {
  const { sandbox = false, responseUrlStyle = "v4", subscriberHosts = [] } = options;
  return { sandbox, responseUrlStyle, subscriberHosts, ...(python === undefined ? {} : { python }) };
}

/** The outermost stack of a nested one. */
async function rootOf(engine: Engine, stackId: string): Promise<string | undefined> {
  try {
    return (await engine.stack(stackId)).rootId;
  } catch (error) {
    // A request that no stack makes names one that there isn't.
    if (error instanceof StackError) return undefined;
    throw error;
  }
}

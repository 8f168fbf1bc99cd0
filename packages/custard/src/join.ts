/**
 * Opens a state directory, or joins the server that works there: the directory's lock decides.
 *
 * J1: whoever gets the lock has an engine of its own, whatever an address file says that a killed server has left.
 * J2: a server that is just starting or ending is waited for, a few seconds; any other holder is named at once.
 */
import { resolve } from "node:path";
import type { DeleteInput, StackInput } from "./engine/engine.ts";
import type { StackId } from "./engine/ids.ts";
import { type Local, type LocalOptions, openLocal } from "./local.ts";
import { openServicesOf } from "./reader.ts";
import { readAddress } from "./remote/address.ts";
import type { Setup, Wishes } from "./remote/calls.ts";
import { RemoteClient } from "./remote/client.ts";
import { RemoteError } from "./remote/remote-error.ts";
import { createResourceTypes } from "./resources/resource-types.ts";
import { openServices, type Services } from "./services/open-services.ts";
import { systemClock } from "./services/system-clock.ts";
import { nothingStored } from "./storage/nothing-stored.ts";
import { StorageError } from "./storage/storage-error.ts";

/** Who opens a directory. */
export interface Caller {
  /** Told to others that want the directory, e.g. `custard deploy`. */
  readonly command: string;
  /** Of Custard. */
  readonly version: string;
}

/** An engine at work: the caller's own, or a server's. */
export interface Joined {
  readonly engine: Pick<
    Local["engine"],
    | "createStack"
    | "updateStack"
    | "deleteStack"
    | "cancelUpdate"
    | "stack"
    | "stacks"
    | "events"
    | "watch"
    | "resume"
  >;
  readonly types: Pick<Local["types"], "facts">;
  readonly traces: Pick<Local["traces"], "ofRequest">;
  readonly lambda: Pick<Local["lambda"], "prewarm">;
  readonly sandbox: boolean;
  readonly endpoint?: Local["endpoint"];
  /** There when another process does the work, and goes on with it when this one ends. */
  readonly server?: { readonly pid: number };
  readonly request: Local["request"];
  close(): Promise<void>;
}

/** Parameters and secrets, one's own or a server's. */
export interface JoinedServices {
  readonly services: {
    readonly parameters: Pick<Services["parameters"], "put" | "find" | "list" | "byPath" | "delete">;
    readonly secrets: Pick<Services["secrets"], "create" | "put" | "describe" | "list" | "delete">;
  };
  close(): Promise<void>;
}

/** The command that serves command lines. */
const servingCommand = "custard serve";
/** Milliseconds for which a server that starts or ends is waited for, and between two looks at it. */
const patience = 10_000;
const pace = 50;

/** Opens an engine, or joins a server. Throws `StorageError`, `RemoteError`, and what `openLocal` throws. */
export async function openOrJoin(options: LocalOptions, caller: Caller): Promise<Joined> {
  const { stateDirectory } = options;
  // A server works itself, or not at all.
  if (options.endpoint !== undefined) return await openLocal({ ...options, holder: caller.command });
  return await eitherWay<Joined>(
    { stateDirectory, caller },
    {
      own: async () => openLocal({ ...options, holder: caller.command }),
      through: async (client) => joinServer(client, options),
    },
  );
}

/** Opens parameters and secrets, or joins a server. Throws `StorageError` and `RemoteError`. */
export async function openOrJoinServices(stateDirectory: string, caller: Caller): Promise<JoinedServices> {
  return await eitherWay<JoinedServices>(
    { stateDirectory, caller },
    {
      own: async () => openServicesOf(stateDirectory, caller.command),
      through: async (client) => servicesOf(client),
    },
  );
}

async function eitherWay<Opened>(
  where: { readonly stateDirectory: string; readonly caller: Caller },
  ways: {
    readonly own: () => Promise<Opened>;
    readonly through: (client: RemoteClient) => Promise<Opened>;
  },
): Promise<Opened> {
  for (const until = performance.now() + patience; ; await systemClock.sleep(pace)) {
    try {
      // J1
      return await ways.own();
    } catch (error) {
      const holder = error instanceof StorageError && error.code === "Locked" ? error.holder : undefined;
      // J2
      if (holder?.command !== servingCommand) throw error;
      const client = await clientOf(where, holder.pid);
      if (client !== undefined) return await ways.through(client);
      if (performance.now() > until) throw error;
    }
  }
}

/** The server that holds the directory, once it listens and while it does. Throws `RemoteError`. */
async function clientOf(
  where: { readonly stateDirectory: string; readonly caller: Caller },
  holder: number,
): Promise<RemoteClient | undefined> {
  const address = await readAddress(resolve(where.stateDirectory));
  if (address?.pid !== holder) return undefined;
  if (address.version === where.caller.version) return new RemoteClient(address);
  throw new RemoteError(
    "OtherVersion",
    `The server here, process ${holder}, is of Custard ${address.version}, and this is ${where.caller.version}.`,
  );
}

async function joinServer(client: RemoteClient, options: LocalOptions): Promise<Joined> {
  const { failFast = true, strict = false } = options;
  const place = { region: options.region ?? "us-east-1", account: options.account ?? "123456789012" };
  const setup = await client.call("setup", []);
  checkSetup(client, setup, options);
  if (options.config !== undefined) await client.call("configure", [options.config, place]);
  for (const runtime of options.prewarm ?? []) await client.call("prewarm", [runtime]);
  return {
    engine: engineOf(client, { place, wishes: { failFast, strict } }),
    types: typesOf(options.stateDirectory),
    traces: { ofRequest: async (requestId) => client.call("trace", [requestId]) },
    lambda: { prewarm: async (runtime) => client.call("prewarm", [runtime]) },
    sandbox: setup.sandbox,
    server: { pid: client.pid },
    request: async (target, wanted, signal) => client.call("request", [target, wanted], signal),
    close: async () => undefined,
  };
}

function engineOf(
  client: RemoteClient,
  {
    place,
    wishes,
  }: { readonly place: { readonly region: string; readonly account: string }; readonly wishes: Wishes },
): Joined["engine"] {
  return {
    createStack: async (input: StackInput) => client.call("createStack", [{ ...place, ...input }, wishes]),
    updateStack: async (input: StackInput) => client.call("updateStack", [{ ...place, ...input }, wishes]),
    deleteStack: async (input: DeleteInput) => client.call("deleteStack", [{ ...place, ...input }, wishes]),
    cancelUpdate: async (stack) => client.call("cancelUpdate", [stack]),
    stack: async (stack) => client.call("stack", [stack]),
    stacks: async () => client.call("stacks", []),
    events: async (stack) => client.call("events", [stack]),
    watch: (stackId: StackId, options) => client.watch([stackId, options?.after ?? 0], options?.signal),
    resume: async () => client.call("resume", []),
  };
}

/** What is known of types is the same everywhere. */
function typesOf(stateDirectory: string): Joined["types"] {
  const { documents } = nothingStored();
  return createResourceTypes(openServices({ documents, stateDirectory }));
}

/** How a server runs providers was said when it was started. Throws `RemoteError` for what is wanted otherwise. */
function checkSetup({ pid }: RemoteClient, setup: Setup, options: LocalOptions): void {
  const differ = (wanted: string): never => {
    throw new RemoteError("OtherSetting", `The server that works here, process ${pid}, ${wanted}.`);
  };
  const { sandbox, responseUrlStyle = "v4", subscriberHosts = [], config } = options;
  if (sandbox !== undefined && sandbox !== setup.sandbox)
    differ(
      sandbox
        ? "runs functions as you: end it, and start it with --sandbox"
        : "runs functions in sandboxes: end it, and start it with --no-sandbox",
    );
  if (responseUrlStyle !== setup.responseUrlStyle)
    differ(
      `makes response URLs of style ${setup.responseUrlStyle}: end it, and start it with --response-url-style ${responseUrlStyle}`,
    );
  const unknown = subscriberHosts.filter((host) => !setup.subscriberHosts.includes(host));
  if (unknown.length > 0 && !setup.subscriberHosts.includes("*"))
    differ(
      `sends no messages to ${unknown.join(", ")}: end it, and start it with --subscriber-hosts ${unknown.join(" ")}`,
    );
  if (config?.python !== undefined && config.python !== setup.python)
    differ(
      `runs another Python than custard.config names, ${config.python}: end it, deploy, and start it again`,
    );
}

function servicesOf(client: RemoteClient): JoinedServices {
  return {
    services: {
      parameters: {
        put: async (...given) => client.call("putParameter", given),
        find: async (...given) => client.call("findParameter", given),
        list: async (...given) => client.call("listParameters", given),
        byPath: async (...given) => client.call("parametersByPath", given),
        delete: async (...given) => client.call("deleteParameter", given),
      },
      secrets: {
        create: async (...given) => client.call("createSecret", given),
        put: async (...given) => client.call("putSecret", given),
        describe: async (...given) => client.call("describeSecret", given),
        list: async (...given) => client.call("listSecrets", given),
        delete: async (...given) => client.call("deleteSecret", given),
      },
    },
    close: async () => undefined,
  };
}

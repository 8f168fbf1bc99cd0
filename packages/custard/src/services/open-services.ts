import { join } from "node:path";
import type { Clock, Documents } from "../engine/ports.ts";
import { ConfigStore } from "./config-store.ts";
import { FunctionRegistry } from "./functions.ts";
import { Identities } from "./identities.ts";
import { KeyStore } from "./keys.ts";
import { LayerRegistry } from "./layers.ts";
import { LogGroups } from "./log-groups.ts";
import { LogStreams } from "./log-streams.ts";
import { MacroRegistry } from "./macros.ts";
import { ParameterStore } from "./parameters.ts";
import type { InvokeFunction } from "./perform-task.ts";
import { QueueRegistry } from "./queues.ts";
import { Records } from "./records.ts";
import { createS3 } from "./s3.ts";
import { SecretStore } from "./secrets.ts";
import { StateMachines } from "./state-machines.ts";
import { systemClock } from "./system-clock.ts";
import { TopicRegistry } from "./topics.ts";

/** Where the services keep things. */
export interface ServiceHome {
  readonly documents: Documents;
  /** Absolute; bodies of objects lie in a folder of it. */
  readonly stateDirectory: string;
  /** Default: the machine's own time. */
  readonly clock?: Clock;
  /** Runs functions for state machines. Default: none run. */
  readonly invoke?: InvokeFunction;
  /** Told of trouble outside that leaves an execution running until the next start. Default: nobody. */
  readonly trouble?: (error: unknown) => void;
}

const noFunctions: InvokeFunction = () => Promise.reject(new Error("No functions run here."));

/** What resource types, transports, look-ups and the endpoint share. */
export function openServices(home: ServiceHome) {
  const { documents, stateDirectory, clock = systemClock } = home;
  const { invoke = noFunctions, trouble = () => undefined } = home;
  const now = () => clock.now();
  const parameters = new ParameterStore(documents, now);
  const records = new Records(documents, now);
  const secrets = new SecretStore(documents, now);
  return {
    documents,
    config: new ConfigStore(documents, { parameters, secrets }),
    functions: new FunctionRegistry(documents, now),
    identities: new Identities(records, now),
    keys: new KeyStore(records),
    logGroups: new LogGroups(documents, now),
    logStreams: new LogStreams(documents, now),
    macros: new MacroRegistry(documents),
    layers: new LayerRegistry(documents, now),
    parameters,
    queues: new QueueRegistry(documents),
    records,
    s3: createS3({ documents, directory: join(stateDirectory, "objects"), now }),
    secrets,
    stateMachines: new StateMachines({ documents, clock, invoke, trouble }),
    topics: new TopicRegistry(documents),
  };
}

/** The services of one state directory. */
export type Services = ReturnType<typeof openServices>;

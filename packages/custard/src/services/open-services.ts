import { join } from "node:path";
import type { Documents } from "../engine/ports.ts";
import { ConfigStore } from "./config-store.ts";
import { FunctionRegistry } from "./functions.ts";
import { LayerRegistry } from "./layers.ts";
import { ParameterStore } from "./parameters.ts";
import { QueueRegistry } from "./queues.ts";
import { createS3 } from "./s3.ts";
import { SecretStore } from "./secrets.ts";
import { TopicRegistry } from "./topics.ts";

/** Where the services keep things. */
export interface ServiceHome {
  readonly documents: Documents;
  /** Absolute; bodies of objects lie in a folder of it. */
  readonly stateDirectory: string;
  readonly now?: () => number;
}

/** What resource types, transports, look-ups and the endpoint share. */
export function openServices({ documents, stateDirectory, now = Date.now }: ServiceHome) {
  const parameters = new ParameterStore(documents, now);
  const secrets = new SecretStore(documents, now);
  return {
    documents,
    config: new ConfigStore(documents, { parameters, secrets }),
    functions: new FunctionRegistry(documents, now),
    layers: new LayerRegistry(documents, now),
    parameters,
    queues: new QueueRegistry(documents),
    s3: createS3({ documents, directory: join(stateDirectory, "objects"), now }),
    secrets,
    topics: new TopicRegistry(documents),
  };
}

/** The services of one state directory. */
export type Services = ReturnType<typeof openServices>;

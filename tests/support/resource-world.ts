import { join } from "node:path";
import type { ResourceTask } from "../../packages/custard/src/engine/ports.ts";
import { createResourceTypes } from "../../packages/custard/src/resources/resource-types.ts";
import { FunctionRegistry } from "../../packages/custard/src/services/functions.ts";
import { LayerRegistry } from "../../packages/custard/src/services/layers.ts";
import { ParameterStore } from "../../packages/custard/src/services/parameters.ts";
import { QueueRegistry } from "../../packages/custard/src/services/queues.ts";
import { createS3 } from "../../packages/custard/src/services/s3.ts";
import { TopicRegistry } from "../../packages/custard/src/services/topics.ts";
import { MemoryDocuments } from "../../packages/custard/src/storage/memory-documents.ts";
import { temporaryDirectory } from "./state-directory.ts";

/** All resource types over stores in memory. */
export function resourceWorld() {
  const documents = new MemoryDocuments();
  const functions = new FunctionRegistry(documents);
  const layers = new LayerRegistry(documents);
  const parameters = new ParameterStore(documents);
  const s3 = createS3({ documents, directory: join(temporaryDirectory(), "objects") });
  const queues = new QueueRegistry(documents);
  const topics = new TopicRegistry(documents);
  const types = createResourceTypes({ documents, functions, layers, parameters, queues, s3, topics });
  return {
    documents,
    functions,
    layers,
    parameters,
    queues,
    s3,
    topics,
    types,
    perform: (task: ResourceTask) => types.perform(task, new AbortController().signal),
  };
}

import { join } from "node:path";
import type { ResourceTask } from "../../packages/custard/src/engine/ports.ts";
import { createResourceTypes } from "../../packages/custard/src/resources/resource-types.ts";
import { FunctionRegistry } from "../../packages/custard/src/services/functions.ts";
import { LayerRegistry } from "../../packages/custard/src/services/layers.ts";
import { createS3 } from "../../packages/custard/src/services/s3.ts";
import { MemoryDocuments } from "../../packages/custard/src/storage/memory-documents.ts";
import { temporaryDirectory } from "./state-directory.ts";

/** All resource types over stores in memory. */
export function resourceWorld() {
  const documents = new MemoryDocuments();
  const functions = new FunctionRegistry(documents);
  const layers = new LayerRegistry(documents);
  const s3 = createS3({ documents, directory: join(temporaryDirectory(), "objects") });
  const types = createResourceTypes({ documents, functions, layers, s3 });
  return {
    documents,
    functions,
    layers,
    s3,
    types,
    perform: (task: ResourceTask) => types.perform(task, new AbortController().signal),
  };
}

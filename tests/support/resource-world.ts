import type { ResourceTask } from "../../packages/custard/src/engine/ports.ts";
import { createResourceTypes } from "../../packages/custard/src/resources/resource-types.ts";
import { openServices } from "../../packages/custard/src/services/open-services.ts";
import { MemoryDocuments } from "../../packages/custard/src/storage/memory-documents.ts";
import { temporaryDirectory } from "./state-directory.ts";

/** All resource types over stores in memory. */
export function resourceWorld() {
  const services = openServices({
    documents: new MemoryDocuments(),
    stateDirectory: temporaryDirectory(),
  });
  const types = createResourceTypes(services);
  return {
    ...services,
    types,
    perform: (task: ResourceTask) => types.perform(task, new AbortController().signal),
  };
}

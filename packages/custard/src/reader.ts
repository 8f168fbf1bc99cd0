/** A state directory without an engine: looked at, or only for what its services keep. */
import { resolve } from "node:path";
import { Engine } from "./engine/engine.ts";
import type { ResourceTypes } from "./engine/ports.ts";
import { createResourceTypes } from "./resources/resource-types.ts";
import { openServices, type Services } from "./services/open-services.ts";
import { systemClock } from "./services/system-clock.ts";
import type { TraceLog } from "./services/traces.ts";
import { nothingStored } from "./storage/nothing-stored.ts";
import { openSqliteStorage, readSqliteStorage } from "./storage/open-sqlite.ts";

/** A state directory that is only looked at: what is in flight there goes on, or rests, as if nobody looked. */
export interface Reader {
  readonly engine: Pick<Engine, "stack" | "stacks" | "events" | "resume">;
  readonly types: Pick<ResourceTypes, "facts">;
  readonly traces: Pick<TraceLog, "ofRequest" | "ofStack" | "ofFunction">;
  /** Is some process at work in the directory? */
  inUse(): boolean;
  close(): Promise<void>;
}

/** Opens a state directory to look at it, also while another process works there. Throws `StorageError`. */
export function openReader(options: {
  readonly stateDirectory: string;
  readonly account?: string;
  readonly region?: string;
}): Reader {
  const { account = "123456789012", region = "us-east-1" } = options;
  const directory = resolve(options.stateDirectory);
  const storage = readSqliteStorage(directory) ?? nothingStored();
  const services = openServices({ documents: storage.documents, stateDirectory: directory });
  const types = createResourceTypes(services);
  const engine = new Engine(
    {
      journal: storage.journal,
      clock: systemClock,
      types,
      transports: [],
      responseUrls: { urlFor: () => "" },
      traces: storage.traces,
      failFast: false,
      trouble: () => undefined,
    },
    { region, account, newSeed: () => "" },
  );
  return {
    engine,
    types,
    traces: storage.traces,
    inUse: () => storage.inUse(),
    close: () => storage.close(),
  };
}

/** What the services of a state directory keep, opened without an engine: what is in flight there stays as it is. */
export interface OpenServices {
  readonly services: Services;
  close(): Promise<void>;
}

/** Opens the services of a state directory. Throws `StorageError` `Locked` when it is in use. */
export function openServicesOf(stateDirectory: string, holder?: string): OpenServices {
  const directory = resolve(stateDirectory);
  const storage = openSqliteStorage(directory, holder);
  return {
    services: openServices({ documents: storage.documents, stateDirectory: directory }),
    close: () => storage.close(),
  };
}

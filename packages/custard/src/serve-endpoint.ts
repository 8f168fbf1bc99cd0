/** Wires AWS's clients to an engine on this machine. */
import type { EndpointOptions, EndpointWorld } from "./api/endpoint.ts";
import type { Api } from "./api/server.ts";
import { isOwnKey } from "./services/access-key.ts";

/** How AWS's clients are served. */
export interface ServeOptions extends Pick<
  EndpointOptions,
  "host" | "port" | "hold" | "holdTime" | "note" | "version" | "limits"
> {
  /** Secrets by access key: only requests that are signed by one of them are answered. */
  readonly keys?: ReadonlyMap<string, string>;
}

/** What functions must know of the endpoint. */
export interface Served {
  /** Of the access keys that it gives out, and of the functions' own. */
  readonly secret: string;
  url?: string;
}

/** Opens the endpoint when it is wanted, and says where it is. */
export async function openServed(
  options: {
    readonly serve: ServeOptions | undefined;
    readonly account: string;
    readonly region: string;
    readonly trouble: (error: unknown) => void;
  },
  world: Omit<EndpointWorld, "secretOf">,
  served: Served,
): Promise<Api | undefined> {
  const { serve, account, region, trouble } = options;
  if (serve === undefined) return undefined;
  const { keys, ...wanted } = serve;
  const { openEndpoint } = await import("./api/endpoint.ts");
  const api = await openEndpoint({
    ...wanted,
    account,
    region,
    now: Date.now,
    trouble,
    world: { ...world, secretOf: () => served.secret },
    ...(keys === undefined
      ? {}
      : { secretOf: (id: string) => (isOwnKey(id) ? served.secret : keys.get(id)) }),
  });
  served.url = api.url;
  return api;
}

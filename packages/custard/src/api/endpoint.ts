/** All services of the endpoint, over what they work on. */
import type { Engine } from "../engine/engine.ts";
import type { Services } from "../services/open-services.ts";
import { createTemplates } from "../services/templates.ts";
import { readTemplate } from "./read-template.ts";
import { type Api, type ApiOptions, openApi } from "./server.ts";
import { bind, type BoundService } from "./service.ts";
import { cloudFormation } from "./services/cloudformation.ts";
import type { Hold } from "./services/cloudformation/world.ts";
import { sts } from "./services/sts.ts";

/** What the services work on. */
export interface EndpointWorld {
  readonly engine: Engine;
  readonly services: Services;
  /** The secret of a key that the endpoint gives out. */
  readonly secretOf: (accessKeyId: string) => string;
}

/** How the endpoint is set up. */
export interface EndpointOptions extends Omit<ApiOptions, "services"> {
  readonly world: EndpointWorld;
  /** Default `waiters`. */
  readonly hold?: Hold;
  /** Milliseconds for which a waiter's call is held at the most. Default 20,000. */
  readonly holdTime?: number;
}

/** Opens the endpoint. */
export async function openEndpoint(options: EndpointOptions): Promise<Api> {
  return await openApi({ ...options, services: boundServices(options) });
}

function boundServices(options: EndpointOptions): readonly BoundService[] {
  const { world, now, hold = "waiters", holdTime = 20_000 } = options;
  const { engine, services } = world;
  const templates = createTemplates(services.s3);
  return [
    bind(cloudFormation, {
      engine,
      readTemplate: (url, scope) => readTemplate(templates, url, scope),
      hold,
      holdTime,
      now,
    }),
    bind(sts, { secretOf: world.secretOf, now }),
  ];
}

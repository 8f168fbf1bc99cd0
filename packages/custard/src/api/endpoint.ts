/** All services of the endpoint, over what they work on. */
import type { Engine } from "../engine/engine.ts";
import type { Services } from "../services/open-services.ts";
import type { TraceLog } from "../services/traces.ts";
import { createTemplates } from "../services/templates.ts";
import { readTemplate } from "./read-template.ts";
import { type Api, type ApiOptions, openApi } from "./server.ts";
import { bind, type BoundService } from "./service.ts";
import { cloudFormation } from "./services/cloudformation.ts";
import { cloudTrail } from "./services/cloud-trail.ts";
import { ecr } from "./services/ecr.ts";
import { iam } from "./services/iam.ts";
import { kms } from "./services/kms.ts";
import { lambda } from "./services/lambda.ts";
import type { FunctionCaller } from "./services/lambda/world.ts";
import { logs } from "./services/logs.ts";
import { secretsManager } from "./services/secrets-manager.ts";
import { type Publisher, sns } from "./services/sns.ts";
import { sqs } from "./services/sqs.ts";
import { ssm } from "./services/ssm.ts";
import { stepFunctions } from "./services/step-functions.ts";
import type { Hold, KnownTypes } from "./services/cloudformation/world.ts";
import { s3 } from "./services/s3.ts";
import { sts } from "./services/sts.ts";

/** What the services work on. */
export interface EndpointWorld {
  readonly engine: Engine;
  readonly services: Services;
  readonly functions: FunctionCaller;
  readonly topics: Publisher;
  readonly traces: TraceLog;
  readonly types: KnownTypes;
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
  const { engine, services, traces } = world;
  const { documents, functions, layers, logGroups, parameters, secrets, stateMachines, topics } = services;
  const templates = createTemplates(services.s3);
  return [
    bind(cloudFormation, {
      engine,
      types: world.types,
      readTemplate: (url, scope) => readTemplate(templates, url, scope),
      hold,
      holdTime,
      now,
    }),
    bind(cloudTrail, undefined),
    bind(ecr, { records: services.records, now }),
    bind(iam, { identities: services.identities }),
    bind(kms, { keys: services.keys, now }),
    bind(lambda, { functions, layers, s3: services.s3, caller: world.functions, traces, documents, now }),
    bind(logs, { functions, logGroups, logStreams: services.logStreams, traces }),
    bind(s3, { s3: services.s3 }),
    bind(secretsManager, { secrets }),
    bind(sns, { topics, publisher: world.topics }),
    bind(sqs, { queues: services.queues }),
    bind(ssm, { parameters }),
    bind(stepFunctions, { stateMachines, now }),
    bind(sts, { secretOf: world.secretOf, now }),
  ];
}

import { answer, refuse, type Situation } from "./answer.ts";
import type { Work } from "./call.ts";
import { Busy } from "./claim.ts";
import type { Continued, Rest } from "./driver.ts";
import { jsonLogger, writeTo } from "./log.ts";
import { oneOff, type OneOff } from "./one-off.ts";
import { type ParsedRequest, parseRequest } from "./protocol/request.ts";
import type { Options, Provider, Shared, Worker } from "./provider.ts";

type Refused = Extract<ParsedRequest, { ok: false }>;
type Opened = Pick<Rest, "request"> & Partial<Rest>;

/** Answers one request. Rejects when it is no request at all, or when its answer can't be delivered. */
export type Serve = (event: unknown, situation: Situation) => Promise<void>;

/** How an entry point serves requests. */
export function server(provider: Provider, options: Options): Serve {
  const shared: Shared = { options, running: new Map() };
  const write = writeTo(options.logger ?? jsonLogger());
  return async (event, situation) => {
    const parsed = parseRequest(event);
    const rest: Opened | undefined = parsed.ok ? parsed : await options.driver?.resume(event);
    if (rest !== undefined) {
      const work = patient(workOf(provider, shared, rest.continued));
      await answer(rest.request, work.run, { ...options, ...situation, ...rest, write });
      if (work.busy !== undefined) throw work.busy;
      return;
    }
    await refuse(parsed as Refused, { ...options, write, ...situation });
  };
}

/** Work that isn't answered when another delivery has it. */
function patient(work: Work): { readonly run: Work; busy: Busy | undefined } {
  const patience: ReturnType<typeof patient> = {
    busy: undefined,
    run: async (call) => {
      try {
        return await work(call);
      } catch (error) {
        if (!(error instanceof Busy)) throw error;
        patience.busy = error;
        return undefined;
      }
    },
  };
  return patience;
}

function workOf(provider: Provider, shared: Shared, continued: Continued | undefined): Work {
  if (typeof provider === "function") return oneOff(provider);
  return async (call) => {
    const worker = await workerFor(provider, call.request.resourceType);
    return worker.work(call, shared, continued);
  };
}

async function workerFor(provider: Exclude<Provider, OneOff>, type: string): Promise<Worker> {
  const holder = "load" in provider ? await provider.load() : provider;
  const workers = [holder, ...Object.values(holder)].filter(isWorker);
  const found = workers.find((worker) => worker.type === type);
  const [only] = workers;
  if (found !== undefined) return found;
  if (only !== undefined && workers.length === 1 && type === "AWS::CloudFormation::CustomResource")
    return only;
  throw new TypeError(
    `No resource of type ${type} here, only: ${workers.map((worker) => worker.type).join(", ")}`,
  );
}

function isWorker(value: unknown): value is Worker {
  return typeof value === "object" && value !== null && "work" in value;
}

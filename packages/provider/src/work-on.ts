import type { Call } from "./call.ts";
import { claim, forget, noteStatus } from "./claim.ts";
import type { Continued } from "./driver.ts";
import { toMilliseconds } from "./duration.ts";
import { type Encoded, encodeResponse } from "./encode.ts";
import { type Journal, memoryJournal } from "./journal.ts";
import { freshIdOf, perform, type Progress } from "./perform.ts";
import { limits } from "./protocol/limits.ts";
import type { Shared } from "./provider.ts";
import type { ResourceDefinition } from "./resource.ts";
import { pick } from "./scrub.ts";
import { noteLatest, openSession, recallLatest, type Session } from "./session.ts";

/** A call, and what the calls of one entry point share. */
export interface Workplace {
  readonly call: Call;
  readonly shared: Shared;
}

interface Job<P, A, S> extends Workplace {
  /** A poll that would start later needs another invocation. */
  readonly lastPoll: number;
  readonly resource: ResourceDefinition<P, A, S>;
  readonly session: Session;
}

type Pending = Extract<Progress, { kind: "pending" }>;

const superseded = "A newer request for this resource has come";

/**
 * Works on a call with a resource until there is an answer, or until another invocation has taken over. A request that
 * was answered before is answered the same again; what is remembered helps, but that it can't be remembered never keeps
 * an answer back.
 */
export async function workOn<P, A, S>(
  resource: ResourceDefinition<P, A, S>,
  workplace: Workplace,
  continued?: Continued,
): Promise<Encoded | undefined> {
  const session = await prepare(resource, workplace);
  const { deadline, left } = workplace.call;
  const lastPoll = deadline - Math.min(5000, left * 0.4);
  const job: Job<P, A, S> = { ...workplace, resource, session, lastPoll };
  const { running } = job.shared;
  if (continued === undefined) {
    const claimed = await claim(session);
    if (claimed.kind === "waiting") return undefined;
    if (claimed.kind === "done") return repeat(claimed.body);
  }
  try {
    await enter(job);
    return await untilAnswered(job, continued);
  } catch (error) {
    await forget(session);
    throw error;
  } finally {
    if (running.get(session.resourceKey) === job.call) running.delete(session.resourceKey);
  }
}

async function prepare<P, A, S>(
  resource: ResourceDefinition<P, A, S>,
  { call, shared }: Workplace,
): Promise<Session> {
  const { request } = call;
  const { options } = shared;
  shared.journal ??= tolerant(options.journal ?? memoryJournal(() => call.clock.now()), call);
  const freshId = await freshIdOf(resource, request);
  const secrets = resource.sensitive ?? [];
  const session = await openSession(call, {
    journal: shared.journal,
    freshId,
    sensitive: secrets,
    around: options.around,
  });
  session.hide(pick(request.properties, secrets));
  if (request.requestType === "Update") session.hide(pick(request.oldProperties, secrets));
  return session;
}

/** The answer that was given before, to be sent to the newest URL. */
function repeat(body: string): Encoded {
  const { PhysicalResourceId } = JSON.parse(body) as { PhysicalResourceId: string };
  return {
    bytes: Buffer.from(body),
    response: { status: "SUCCESS", physicalId: PhysicalResourceId, data: {}, noEcho: false },
  };
}

/** Makes this request the newest of its resource: whatever works on an older one is told to stop. */
async function enter<P, A, S>({ call, shared, session }: Job<P, A, S>): Promise<void> {
  const { requestId, requestType } = call.request;
  const older = shared.running.get(session.resourceKey);
  if (older !== undefined && older.request.requestId !== requestId) older.cancel.abort(new Error(superseded));
  shared.running.set(session.resourceKey, call);
  const latest = await recallLatest(session);
  if (latest?.requestId === requestId) return;
  if (requestType === "Delete") session.leftBehind = latest?.adopted;
  await noteLatest(session);
}

async function untilAnswered<P, A, S>(
  job: Job<P, A, S>,
  continued?: Continued,
): Promise<Encoded | undefined> {
  const { call, session, resource } = job;
  limitOperation(job);
  let progress = await perform({ resource, session }, continued);
  while (progress.kind === "pending") {
    if (await handOver(job, progress)) return undefined;
    await call.clock.sleep(progress.every, call.cancel.signal);
    const latest = await recallLatest(session);
    if (latest !== undefined && latest.requestId !== call.request.requestId) throw new Error(superseded);
    const { id, state } = progress;
    progress = await perform({ resource, session }, { id, state });
  }
  await session.noted;
  const encoded = encodeResponse(progress.response, call.request);
  // Before it is sent: a delivery that fails is repeated with the same bytes.
  if (encoded.response.status === "SUCCESS")
    await noteStatus(session, "done", Buffer.from(encoded.bytes).toString());
  else await forget(session);
  return encoded;
}

/** Sets the time limit of the whole operation, polling included: `ServiceTimeout` (fact 47) or the author's own. */
function limitOperation<P, A, S>({ call, resource }: Job<P, A, S>): void {
  const own = resource.timeouts?.[operations[call.request.requestType]];
  const timeout = Math.min(
    serviceTimeout(call.request.properties["ServiceTimeout"]),
    own === undefined ? Infinity : toMilliseconds(own),
  );
  const end = call.startedAt + timeout;
  call.deadline = Math.min(call.deadline, end);
  call.alarm(end, () => {
    const error = new Error(`Not done within ${timeout / 1000} s`);
    call.fail(error);
    call.cancel.abort(error);
  });
}

const operations = { Create: "create", Update: "update", Delete: "delete" } as const;

/** How long CloudFormation waits, less what the answer needs to get there; milliseconds. */
function serviceTimeout(declared: unknown): number {
  const { minServiceTimeout: least, maxServiceTimeout: most, defaultServiceTimeout: usual } = limits;
  const seconds = Number(declared);
  const waits = (seconds >= least.value && seconds <= most.value ? seconds : usual.value) * 1000;
  return waits - Math.min(waits * 0.1, 10_000);
}

/** Leaves the rest of the work to another invocation, if that is needed. */
async function handOver<P, A, S>(
  { call, shared, session, lastPoll }: Job<P, A, S>,
  pending: Pending,
): Promise<boolean> {
  const { driver } = shared.options;
  const { id, state, every } = pending;
  const fits = call.clock.now() + every < lastPoll;
  if (fits && every < (driver?.shortestWait ?? Infinity)) return false;
  if (driver === undefined)
    throw new Error("Still pending at the end of the function's time: it needs a driver");
  await session.noted;
  const { request, startedAt } = call;
  await driver.handOver({ request, startedAt, continued: { id, state } }, every);
  await noteStatus(session, "waiting");
  session.ctx.log.info("handed over", { every });
  return true;
}

/** Trouble with the journal is logged, and the work goes on as if there were none. */
function tolerant(journal: Journal, { write }: Call): Journal {
  const attempt = async <T>(work: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      write({ level: "warn", msg: "the journal failed", error: String(error) });
      return otherwise;
    }
  };
  return {
    get: (key) => attempt(journal.get(key), undefined),
    put: (key, value, expiresAt) => attempt(journal.put(key, value, expiresAt), undefined),
    putIfAbsent: (key, value, expiresAt) => attempt(journal.putIfAbsent(key, value, expiresAt), true),
    delete: (key) => attempt(journal.delete(key), undefined),
  };
}

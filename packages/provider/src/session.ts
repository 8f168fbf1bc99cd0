import { boundLogger } from "./bound-logger.ts";
import type { Call } from "./call.ts";
import { type Duration, toMilliseconds } from "./duration.ts";
import { validId } from "./encode.ts";
import type { Journal } from "./journal.ts";
import { sha256 } from "./physical-id.ts";
import type { Json } from "./protocol/json.ts";
import type { Around, Span } from "./provider.ts";
import { mark, type UpdateContext } from "./resource.ts";
import { scrubber } from "./scrub.ts";

const defaultInterval = "5s";

/** A call that a resource works on: what its author's code gets, and what the SDK knows beside. */
export interface Session {
  readonly call: Call;
  readonly ctx: UpdateContext;
  readonly journal: Journal;
  /** Identifies the resource across its requests. */
  readonly resourceKey: string;
  /** The id that `adopt()` gives when it is called without one. */
  readonly freshId: string;
  /** What a request before this one had adopted when it was cancelled, if that is known. */
  leftBehind: string | undefined;
  /** Resolves when what was adopted is in the journal. */
  noted: Promise<void>;
  /** Calls a handler of the author's. */
  readonly run: <T>(handler: Span["handler"], id: string | undefined, work: () => Promise<T>) => Promise<T>;
  /** Keeps these values out of logs and reasons from now on. */
  hide(secrets: readonly unknown[]): void;
}

/** What a session needs beside its call. */
export interface SessionParts {
  readonly journal: Journal;
  readonly freshId: string;
  /** Names of properties and attributes. */
  readonly sensitive: readonly string[];
  readonly around: Around | undefined;
}

/** How long the SDK remembers what it knows about a resource: longer than any roll back can take. */
const remembered = 24 * 3_600_000;

/** Opens a session. The author's code can't reach the response URL from what it gets. */
export async function openSession(
  call: Call,
  { journal, freshId, sensitive, around }: SessionParts,
): Promise<Session> {
  const { request, clock, cancel } = call;
  const { stackId, requestId, logicalId, requestType, resourceType } = request;
  const identity = { stackId, requestId, logicalId, requestType, resourceType };
  const secrets: unknown[] = [request.responseUrl, request.responseUrl.split("?")[1]];
  const hide = (more: readonly unknown[]) => {
    secrets.push(...more);
    call.scrub = scrubber(secrets);
  };
  hide([]);
  const session: Session = {
    call,
    journal,
    freshId,
    hide,
    run: (handler, id, work) => around?.({ handler, id, request: identity }, work) ?? work(),
    resourceKey: await hash32([stackId, logicalId]),
    leftBehind: undefined,
    noted: Promise.resolve(),
    ctx: {
      ...identity,
      log: boundLogger(call.write, identity, { names: sensitive, scrub: (text) => call.scrub(text) }),
      idempotencyToken: await hash32([stackId, logicalId, requestId, requestType]),
      signal: cancel.signal,
      remainingTime: () => Math.max(0, call.deadline - clock.now()),
      adopt: (id = freshId) => adopt(session, id),
      pending: (state, options) => pending(state, options?.every),
      replace: (id, attributes) => ({ [mark]: "replaced", id: validId(id), attributes }),
    },
  };
  return session;
}

/** Remembers something about this resource, beside `name`. */
export async function remember(session: Session, name: string, value: Json): Promise<void> {
  await session.journal.put(`${session.resourceKey}/${name}`, value, session.call.clock.now() + remembered);
}

/** What was remembered, if anything. */
export async function recall(session: Session, name: string): Promise<Json | undefined> {
  return session.journal.get(`${session.resourceKey}/${name}`);
}

/** 32 hexadecimal digits that stand for these texts. */
async function hash32(texts: readonly string[]): Promise<string> {
  return (await sha256(texts.join("|"))).toString("hex").slice(0, 32);
}

function adopt(session: Session, id: string): string {
  session.call.adopted = validId(id);
  session.noted = session.noted.then(() => noteLatest(session));
  return id;
}

/** Notes that this request is the newest of its resource, and what it has made. */
export async function noteLatest(session: Session): Promise<void> {
  const { requestId } = session.call.request;
  await remember(session, "latest", {
    requestId,
    adopted: session.call.adopted ?? session.leftBehind ?? null,
  });
}

/** Which request of the resource is the newest, and what it had made. */
export async function recallLatest(
  session: Session,
): Promise<{ requestId: string; adopted?: string } | undefined> {
  const latest = await recall(session, "latest");
  if (typeof latest !== "object" || latest === null || !("requestId" in latest)) return undefined;
  const { requestId, adopted } = latest;
  return typeof requestId === "string"
    ? { requestId, ...(typeof adopted === "string" && { adopted }) }
    : undefined;
}

function pending<S extends Json>(state: S, every: Duration = defaultInterval) {
  return { [mark]: "pending", state, every: toMilliseconds(every) } as const;
}

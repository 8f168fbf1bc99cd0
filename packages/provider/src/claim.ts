import type { Json } from "./protocol/json.ts";
import { limits } from "./protocol/limits.ts";
import type { Session } from "./session.ts";

/** Whose a delivery is. */
export type Claim =
  /** Nobody works on this request: we do. */
  | { readonly kind: "ours" }
  /** It has succeeded before: this is the answer, to be sent to the newest URL. */
  | { readonly kind: "done"; readonly body: string }
  /** It waits for its next poll, in another invocation. */
  | { readonly kind: "waiting" };

const interval = 1000;

/** Not ours to answer, now; the invocation must fail, so that the request is delivered once more. */
export class Busy extends Error {
  override readonly name = "Busy";

  constructor() {
    super("Another delivery of this request is at work");
  }
}

/**
 * Takes a request on, unless another delivery of it has (fact 19: Lambda delivers up to three times). While another
 * one is working this waits: either its answer turns up, or its time runs out and the request is ours. Throws when our
 * own time runs out first (`Busy`).
 */
export async function claim(session: Session): Promise<Claim> {
  const { journal, call } = session;
  const key = requestKey(session);
  while (!(await journal.putIfAbsent(key, { status: "running" }, call.deadline))) {
    const { status, body } = parseEntry(await journal.get(key));
    if (status === "done") return { kind: "done", body };
    if (status === "waiting") return { kind: "waiting" };
    if (session.ctx.remainingTime() < 2 * interval) throw new Busy();
    await call.clock.sleep(interval);
  }
  return { kind: "ours" };
}

/** Notes that the request is done, with what was answered, or that it waits for its next poll. */
export async function noteStatus(session: Session, status: "done" | "waiting", body = ""): Promise<void> {
  const until = session.call.startedAt + 2 * limits.maxServiceTimeout.value * 1000;
  await session.journal.put(requestKey(session), { status, body }, until);
}

/** Forgets the request, so that a repeated delivery of it tries again. */
export async function forget(session: Session): Promise<void> {
  await session.journal.delete(requestKey(session));
}

function requestKey(session: Session): string {
  return `${session.resourceKey}/request/${session.ctx.idempotencyToken}`;
}

function parseEntry(entry: Json | undefined): { status: string; body: string } {
  const { status, body } = typeof entry === "object" && entry !== null && "status" in entry ? entry : {};
  return { status: String(status as string), body: typeof body === "string" ? body : "" };
}

/**
 * Works on one request with one resource: which handler is called, with what, and what its result amounts to.
 *
 * Invariants
 * P1: an Update answers with the id that came, unless it replaces on purpose.
 * P2: a failure answers with what was adopted, else with the id that came, else with a tombstone.
 * P3: a Delete answers with the id that came, and its properties never block it.
 */
import { describeError } from "./call.ts";
import { check, coerce, type Validated } from "./coerce.ts";
import { encodeResponse, validId } from "./encode.ts";
import type { Continued } from "./driver.ts";
import { isHttpNotFound, isNotFound } from "./not-found.ts";
import { defaultPhysicalId, isInvented } from "./physical-id.ts";
import { fingerprint, isChanged, planUpdate, type UpdatePlan, withoutService } from "./plan-update.ts";
import type { Json, JsonObject } from "./protocol/json.ts";
import type { ProviderRequest } from "./protocol/request.ts";
import type { ProviderResponse } from "./protocol/response.ts";
import { type Lenient, mark, type Pending, type Replaced, type ResourceDefinition } from "./resource.ts";
import { pick } from "./scrub.ts";
import { recall, remember, type Session } from "./session.ts";
import { toData } from "./to-data.ts";

type Request<Type> = Extract<ProviderRequest, { requestType: Type }>;
type Update = Request<"Update">;

/** A resource at work in a session. */
export interface Task<P, A, S> {
  readonly resource: ResourceDefinition<P, A, S>;
  readonly session: Session;
}

/** Nothing was done: what was asked for can't be done. */
class Refusal extends Error {
  override readonly name = "Refusal";
}

/** What working on a request has come to. */
export type Progress =
  | { readonly kind: "answer"; readonly response: ProviderResponse }
  | { readonly kind: "pending"; readonly id: string; readonly state: Json; readonly every: number };

interface Target<P> {
  readonly id: string;
  readonly now: P;
  readonly isChanged: (name: string) => boolean;
}

/** Works on the request: from its start, or from where a poll left it. What it throws is answered as FAILED. */
export async function perform<P, A, S>(work: Task<P, A, S>, continued?: Continued): Promise<Progress> {
  const { session, resource } = work;
  const { call } = session;
  const { request } = call;
  call.step = continued === undefined ? request.requestType.toLowerCase() : "poll";
  try {
    const progress = await (continued === undefined ? begin(work, request) : poll(work, continued));
    if (progress.kind === "pending" && resource.poll === undefined)
      throw new TypeError("ctx.pending() was returned, but the resource has no poll handler");
    return progress;
  } catch (error) {
    const isGone = isNotFound(error) || isHttpNotFound(error) || resource.isNotFound?.(error) === true;
    if (request.requestType !== "Delete" || !isGone) throw error;
    session.ctx.log.info("there was nothing to delete", { error });
    return success(request.physicalId);
  }
}

async function begin<P, A, S>(work: Task<P, A, S>, request: ProviderRequest): Promise<Progress> {
  switch (request.requestType) {
    case "Create":
      return create(work);
    case "Update":
      return update(work, request);
    case "Delete":
      return remove(work, request);
  }
}

/** The id that this resource would get by default. */
export async function freshIdOf<P, A, S>(
  resource: ResourceDefinition<P, A, S>,
  request: ProviderRequest,
): Promise<string> {
  const identity = (resource.replaceOn ?? []).map((name) => request.properties[name] ?? null);
  return defaultPhysicalId(request, identity.length > 0 ? JSON.stringify(identity) : request.requestId);
}

async function create<P, A, S>(work: Task<P, A, S>): Promise<Progress> {
  const { resource, session } = work;
  const properties = await parse(resource, session.call.request.properties);
  if (!properties.ok) throw new Refusal(properties.complaint);
  const call = { properties: properties.value, ctx: session.ctx };
  const result = await session.run("create", undefined, () => resource.create(call));
  if (isPending(result)) return wait(result, session.ctx.adopt(session.call.adopted));
  const id = validId(result?.id ?? session.call.adopted ?? session.freshId);
  session.call.adopted = id;
  return answer(work, id, result?.attributes);
}

async function update<P, A, S>(work: Task<P, A, S>, request: Update): Promise<Progress> {
  const { session } = work;
  const plan = await plannedUpdate(work, request);
  session.ctx.log.info("planned", { plan: plan.kind });
  try {
    switch (plan.kind) {
      case "back":
        return await stay(work, request, plan.id);
      case "unchanged":
        return await stay(work, request, request.physicalId);
      case "replace":
        return await replace(work, request);
      case "in-place":
        return await change(work, request);
    }
  } catch (error) {
    // So that the roll back isn't mistaken for a change.
    const isUntouched = error instanceof Refusal || plan.kind === "replace";
    if (session.call.adopted === undefined) {
      const what = isUntouched ? "untouched" : "failed";
      await remember(session, `${what}/${request.physicalId}`, fingerprint(request.properties));
    }
    throw error;
  }
}

async function plannedUpdate<P, A, S>(
  { resource, session }: Task<P, A, S>,
  request: Update,
): Promise<UpdatePlan> {
  return planUpdate({
    ...request,
    replaceOn: resource.replaceOn ?? [],
    freshId: session.freshId,
    canUpdate: resource.update !== undefined,
    replaced: await recall(session, `replaced/${request.physicalId}`),
    untouched: await recall(session, `untouched/${request.physicalId}`),
  });
}

/** A replacement by `replaceOn`: another one is created; CloudFormation deletes the old one afterwards. */
async function replace<P, A, S>(work: Task<P, A, S>, request: Update): Promise<Progress> {
  const { session } = work;
  session.call.step = "create of the replacement";
  try {
    return await create(work);
  } finally {
    if (session.call.adopted !== undefined) await noteReplaced(session, request, session.call.adopted);
  }
}

async function noteReplaced(session: Session, request: Update, id: string): Promise<void> {
  if (id === request.physicalId) return;
  const properties = fingerprint(request.oldProperties);
  await remember(session, `replaced/${id}`, { id: request.physicalId, properties });
}

/** Nothing is to be done to it: its attributes are answered again, for an answer isn't merged with older ones (fact 57). */
async function stay<P, A, S>(work: Task<P, A, S>, request: Update, id: string): Promise<Progress> {
  const { resource, session } = work;
  const properties = await parse(resource, request.properties);
  if (!properties.ok) throw new Refusal(properties.complaint);
  if (resource.read === undefined)
    return callUpdate(work, request, { id, now: properties.value, isChanged: never });
  session.call.step = "read";
  const call = { id, properties: properties.value, ctx: session.ctx };
  return answer(work, id, await session.run("read", id, async () => resource.read?.(call)));
}

async function change<P, A, S>(work: Task<P, A, S>, request: Update): Promise<Progress> {
  const { resource, session } = work;
  const properties = await parse(resource, request.properties);
  if (!properties.ok) throw new Refusal(properties.complaint);
  const old = await parseLeniently(resource, request.oldProperties);
  // The way back from an update that failed is no change that anybody asked for.
  const isWayBack =
    (await recall(session, `failed/${request.physicalId}`)) === fingerprint(request.oldProperties);
  const refused = isWayBack ? undefined : refusedChange(work, request, { old, now: properties.value });
  if (refused !== undefined) throw new Refusal(refused);
  const changed = (name: string) => isChanged(request, name);
  return callUpdate(work, request, { id: request.physicalId, now: properties.value, isChanged: changed });
}

async function callUpdate<P, A, S>(work: Task<P, A, S>, request: Update, to: Target<P>): Promise<Progress> {
  const { resource, session } = work;
  const old = await parseLeniently(resource, request.oldProperties);
  const call = { id: to.id, properties: to.now, old, changed: to.isChanged, ctx: session.ctx };
  const result = await session.run("update", to.id, async () => resource.update?.(call));
  if (isPending(result)) return wait(result, to.id);
  if (!isReplaced(result)) return answer(work, to.id, result);
  session.call.adopted = result.id;
  await noteReplaced(session, request, result.id);
  return answer(work, result.id, result.attributes);
}

function refusedChange<P, A, S>(
  { resource, session }: Task<P, A, S>,
  request: Update,
  { old, now }: { old: Lenient<P>; now: P },
): string | undefined {
  for (const name in resource.immutable) {
    const rule = resource.immutable[name];
    if (rule === undefined || !isChanged(request, name)) continue;
    if (rule === true) return `${name} can't be changed`;
    if (!old.ok) {
      session.ctx.log.warn("the old properties can't be read, so a rule wasn't checked", { property: name });
      continue;
    }
    const verdict = rule(old.value[name], now[name]);
    if (verdict !== true) return `${name}: ${verdict}`;
  }
  return undefined;
}

async function remove<P, A, S>(work: Task<P, A, S>, request: Request<"Delete">): Promise<Progress> {
  const { resource, session } = work;
  const { physicalId } = request;
  const isOurs = resource.owns?.(physicalId) ?? !isInvented(physicalId, request);
  const id = isOurs ? physicalId : session.leftBehind;
  if (id === undefined) {
    session.ctx.log.warn("CloudFormation made this id up for a create that it cancelled; nothing to delete", {
      physicalId,
    });
    return success(physicalId);
  }
  const properties = await parseLeniently(resource, request.properties);
  const call = { id, properties, ctx: session.ctx };
  const result = await session.run("delete", id, () => resource.delete(call));
  return isPending(result) ? wait(result, id) : success(physicalId);
}

async function poll<P, A, S>(work: Task<P, A, S>, { id, state }: Continued): Promise<Progress> {
  const { resource, session } = work;
  const { request } = session.call;
  if (request.requestType === "Create" || request.physicalId !== id) session.call.adopted = id;
  const properties = await parseLeniently(resource, request.properties);
  // The state is what this resource's own handler returned, gone through JSON.
  const call = { id, state: state as S, properties, ctx: session.ctx };
  const result = await session.run("poll", id, async () => resource.poll?.(call));
  if (isPending(result)) return wait(result, id);
  return request.requestType === "Delete" ? success(request.physicalId) : answer(work, id, result);
}

/** A SUCCESS with these attributes, if they are what the schema says and fit. */
async function answer<P, A, S>(
  work: Task<P, A, S>,
  physicalId: string,
  attributes: unknown,
): Promise<Progress> {
  const { resource, session } = work;
  const checked = await checkAttributes(resource, attributes);
  if (!checked.ok) throw new TypeError(`The attributes aren't what was declared: ${checked.complaint}`);
  warnOfLoss(work, attributes, checked.value);
  const sensitive = resource.sensitive ?? [];
  const toResponse = (value: unknown): ProviderResponse => {
    const data = toData(value);
    const secrets = pick(data, sensitive);
    session.hide(secrets);
    return { status: "SUCCESS", physicalId, data, noEcho: secrets.length > 0 };
  };
  const response = toResponse(checked.value);
  const isTooLong = encodeResponse(response, session.call.request).response !== response;
  const smaller = isTooLong ? resource.overflow?.(checked.value) : undefined;
  return { kind: "answer", response: smaller === undefined ? response : toResponse(smaller) };
}

/** Schemas leave out what they don't know, and `Fn::GetAtt` then fails far from here. */
function warnOfLoss<P, A, S>({ session }: Task<P, A, S>, given: unknown, kept: A): void {
  const lost = Object.keys(Object(given)).filter((name) => !(name in Object(kept)));
  if (lost.length > 0)
    session.ctx.log.warn("attributes were left out, as their schema doesn't have them", { lost });
}

async function checkAttributes<P, A, S>(
  resource: ResourceDefinition<P, A, S>,
  attributes: unknown,
): Promise<Validated<A>> {
  const value = attributes ?? {};
  // Without a schema anything goes: A is then FreeAttributes.
  return resource.attributes === undefined
    ? { ok: true, value: value as A }
    : check(resource.attributes, value);
}

/** The properties as the schema has them; older shapes go through the migrations. */
async function parse<P, A, S>(
  resource: ResourceDefinition<P, A, S>,
  properties: JsonObject,
): Promise<Validated<P>> {
  let candidate = withoutService(properties);
  // Without a schema the properties are what came: P is then JsonObject.
  if (resource.properties === undefined) return { ok: true, value: candidate as P };
  const first = await coerce(resource.properties, candidate);
  if (first.ok) return first;
  for (const migrate of resource.migrations ?? []) {
    candidate = migrate(candidate);
    const migrated = await coerce(resource.properties, candidate);
    if (migrated.ok) return migrated;
  }
  return first;
}

async function parseLeniently<P, A, S>(
  resource: ResourceDefinition<P, A, S>,
  raw: JsonObject,
): Promise<Lenient<P>> {
  try {
    const parsed = await parse(resource, raw);
    return parsed.ok ? parsed : { ...parsed, raw };
  } catch (error) {
    return { ok: false, raw, complaint: describeError(error) };
  }
}

function success(physicalId: string): Progress {
  return { kind: "answer", response: { status: "SUCCESS", physicalId, data: {}, noEcho: false } };
}

function wait<S>(result: Pending<S>, id: string): Progress {
  // `pending` takes JSON only.
  const state = result.state as Json;
  return { kind: "pending", id, state, every: result.every };
}

function isPending<S>(result: unknown): result is Pending<S> {
  return markOf(result) === "pending";
}

function isReplaced<A>(result: unknown): result is Replaced<A> {
  return markOf(result) === "replaced";
}

function markOf(result: unknown): unknown {
  return typeof result === "object" && result !== null && mark in result ? result[mark] : undefined;
}

function never(): boolean {
  return false;
}

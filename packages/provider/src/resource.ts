import type { Duration } from "./duration.ts";
import type { Logger } from "./log.ts";
import type { Json, JsonObject } from "./protocol/json.ts";
import type { RequestIdentity, RequestType } from "./protocol/request.ts";
import type { Worker } from "./provider.ts";
import type { Schema } from "./standard-schema.ts";

/** Attributes of a type that declares no schema for them: any names, any JSON values. */
export type FreeAttributes = Record<string, Json>;

/** Properties that may have an older shape: those of a Delete, and the old ones of an Update. They never block it. */
export type Lenient<P> =
  | { readonly ok: true; readonly value: P }
  | { readonly ok: false; readonly raw: JsonObject; readonly complaint: string };

/** Tells what `ctx` made from attributes, whatever those are called. */
export const mark: unique symbol = Symbol("custard.result");

/** Not done yet: `poll` is called again, with this state. */
export interface Pending<S> {
  readonly [mark]: "pending";
  readonly state: S;
  readonly every: number;
}

/** A deliberate replacement: CloudFormation deletes the old id once the whole update has succeeded. */
export interface Replaced<A> {
  readonly [mark]: "replaced";
  readonly id: string;
  readonly attributes: A;
}

/** What `create` returns. Without an `id` the adopted one counts, or else a generated one. */
export type Created<A> = { readonly id?: string } & ({} extends A
  ? { readonly attributes?: A }
  : { readonly attributes: A });

/** Attributes, and no `id`: an id that changes in an update would make CloudFormation delete the resource. */
export type Attributes<A> = A & WithoutId<A>;

type WithoutId<A> = string extends keyof A
  ? { readonly id?: never }
  : "id" extends keyof A
    ? unknown
    : { readonly id?: never };

/** Attributes; a type that needs none may return nothing. */
export type Updated<A> = {} extends A ? Attributes<A> | void : Attributes<A>;

/** What every handler gets beside the properties. */
export interface Context extends RequestIdentity {
  readonly requestType: RequestType;
  readonly resourceType: string;
  /** 32 hexadecimal digits: the same for every delivery of one request. Hand it to APIs that take a token. */
  readonly idempotencyToken: string;
  /** Aborted when time runs out or a newer request has made this one obsolete. */
  readonly signal: AbortSignal;
  /** JSON lines that name the request; secrets and the response URL can't get into them. */
  readonly log: Logger;
  /** Milliseconds until the answer must be out. */
  remainingTime(): number;
  /**
   * Call it as soon as something exists: from then on a failure is cleaned up under this id. Without an argument it
   * adopts the generated id. Returns the id.
   */
  adopt(id?: string): string;
  /** Return it when the work goes on for longer: `poll` is called after `every` (default 5 s). */
  pending<S extends Json>(state: S, options?: { readonly every?: Duration }): Pending<S>;
}

/** The context of an update. */
export interface UpdateContext extends Context {
  /** Return it to replace the resource by another one, under a new id. */
  replace<A>(id: string, attributes: A): Replaced<A>;
}

/** What `create` gets. */
export interface CreateCall<P> {
  readonly properties: P;
  readonly ctx: Context;
}

/** What `update` gets. */
export interface UpdateCall<P> {
  readonly id: string;
  readonly properties: P;
  readonly old: Lenient<P>;
  /** Has this property changed? By what was declared, before coercion. */
  readonly changed: (name: keyof P & string) => boolean;
  readonly ctx: UpdateContext;
}

/** What `delete` gets. */
export interface DeleteCall<P> {
  readonly id: string;
  readonly properties: Lenient<P>;
  readonly ctx: Context;
}

/** What `poll` gets. On a Delete, `properties` may be of an older shape, as in `delete`. */
export interface PollCall<P, S> {
  readonly id: string;
  readonly state: S;
  readonly properties: Lenient<P>;
  readonly ctx: Context;
}

/** What `read` gets. */
export interface ReadCall<P> {
  readonly id: string;
  readonly properties: P;
  readonly ctx: Context;
}

/** A kind of custom resource: what it takes, what it gives, and what it does. */
export interface ResourceDefinition<P, A, S> {
  readonly type: `Custom::${string}` | "AWS::CloudFormation::CustomResource";
  /** By any Standard Schema library. Strings become what the schema wants where it says so. */
  readonly properties?: Schema<P>;
  /** What `Fn::GetAtt` may ask for. Every answer is checked against it. */
  readonly attributes?: Schema<A>;
  /** Properties and attributes that are never logged and never part of a reason; attributes answer with NoEcho. */
  readonly sensitive?: readonly ((keyof P | keyof A) & string)[];
  /** A change of any of these makes a new resource; CloudFormation then deletes the old one. */
  readonly replaceOn?: readonly (keyof P & string)[];
  /** Changes that are refused: `true` for any, or a function that says why not. */
  readonly immutable?: ImmutableRules<P>;
  /** How long an operation may take in all, polling included; never longer than `ServiceTimeout`. */
  readonly timeouts?: { readonly [operation in "create" | "update" | "delete"]?: Duration };
  /** Turn older shapes of the properties into newer ones; tried in order where the schema refuses. */
  readonly migrations?: readonly ((older: JsonObject) => JsonObject)[];
  /** Is this id one of ours? CloudFormation makes one up when a create was cancelled. */
  owns?(id: string): boolean;
  /** Further errors that mean "it isn't there". */
  isNotFound?(error: unknown): boolean;
  /** Gives smaller attributes when the answer would be longer than 4096 bytes. */
  overflow?(attributes: NoInfer<A>): NoInfer<A>;

  // Attributes are what their schema says; without one they are free. No handler decides about that.
  create(
    call: CreateCall<P>,
  ): Promise<Created<NoInfer<A>> | Pending<S> | ({} extends NoInfer<A> ? void : never)>;
  update?(call: UpdateCall<P>): Promise<Updated<NoInfer<A>> | Pending<S> | Replaced<NoInfer<A>>>;
  delete(call: DeleteCall<P>): Promise<Pending<S> | void>;
  poll?(call: PollCall<P, S>): Promise<Updated<NoInfer<A>> | Pending<S>>;
  /** The attributes of what is there: for updates that change nothing, and for ways back. */
  read?(call: ReadCall<P>): Promise<Attributes<NoInfer<A>>>;
}

/** `true` refuses every change; a function returns `true` to allow one, or says why not. */
export type ImmutableRules<P> = {
  readonly [name in keyof P]?: true | { bivariant(old: P[name], now: P[name]): true | string }["bivariant"];
};

/** A defined resource, ready for an entry point. */
export interface Resource<P, A, S> extends ResourceDefinition<P, A, S>, Worker {
  readonly type: ResourceDefinition<P, A, S>["type"];
  /** What it declares, for documentation and tools. */
  describe(): Manifest;
}

/** What a resource declares, as JSON. */
export interface Manifest {
  readonly type: string;
  readonly sensitive: readonly string[];
  readonly replaceOn: readonly string[];
  readonly immutable: readonly string[];
  readonly timeouts: { readonly [operation: string]: Duration };
  readonly handlers: readonly string[];
}

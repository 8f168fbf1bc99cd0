/** What the codecs know of a service: its operations and shapes, from the schemas that AWS's own clients publish. */
import { readFileSync } from "node:fs";

/** How a service speaks. */
export type ProtocolName = "awsQuery" | "awsJson1.0" | "awsJson1.1" | "restJson" | "restXml";

/** A value on the wire: a simple one, a structure as `#Name`, or what a list or map holds. */
export type Ref = SimpleRef | `#${string}` | ListRef | MapRef;

/** `events` is a stream of events, which nothing here gives. */
export type SimpleRef =
  | "string"
  | "number"
  | "boolean"
  | "timestamp"
  | "date-time"
  | "http-date"
  | "epoch-seconds"
  | "blob"
  | "stream"
  | "document"
  | "events"
  | "unit";

/** A list; `name` is what its items are called in XML, when it isn't `member`. */
export interface ListRef {
  readonly list: Ref;
  readonly name?: string;
}

/** A map; `key` and `value` are what these are called in XML, when they aren't that. */
export interface MapRef {
  readonly map: Ref;
  readonly key?: string;
  readonly value?: string;
}

/** A member of a structure, and where it stands on the wire when that isn't the body. */
export interface Member {
  readonly ref: Ref;
  /** In XML and forms, when it isn't the member's own. */
  readonly name?: string;
  /** Its items stand where it would stand itself. */
  readonly flat?: true;
  readonly attribute?: true;
  readonly header?: string;
  /** Begin of the names of all headers that are entries of it. */
  readonly headers?: string;
  readonly query?: string;
  /** All that is left of the query. */
  readonly queries?: true;
  /** In the path. */
  readonly label?: true;
  /** It is the whole body. */
  readonly payload?: true;
  /** It is the status. */
  readonly status?: true;
}

/** A structure; also those that have one member at a time. */
export interface Structure {
  readonly members: Readonly<Record<string, Member>>;
  readonly required: readonly string[];
  /** In XML, when it isn't the structure's own. */
  readonly name?: string;
}

/** An operation; with its place in the paths of a service that has such. */
export interface Operation {
  readonly name: string;
  /** Undefined when it takes nothing. */
  readonly input: Structure | undefined;
  readonly output: Structure | undefined;
  readonly method?: string;
  readonly uri?: string;
  readonly status?: number;
}

/** How an error of the model goes on the wire. */
export interface ErrorForm {
  readonly code: string;
  readonly status: number;
}

/** A service. */
export interface ServiceModel {
  /** As in the scope of signatures. */
  readonly service: string;
  readonly protocol: ProtocolName;
  readonly version: string;
  readonly namespace: string;
  /** What `X-Amz-Target` begins with. */
  readonly target: string;
  /** Older clients speak the query protocol to it. */
  readonly forms?: true;
  readonly operations: ReadonlyMap<string, Operation>;
  /** By the name of the exception. */
  readonly errors: Readonly<Record<string, ErrorForm>>;
  /** A structure by its reference. */
  structure(ref: `#${string}`): Structure;
}

/** Reads a service's model. Throws when the build has made none. */
export function loadModel(service: string): ServiceModel {
  const file = new URL(`../../dist/apis/${service}.json`, import.meta.url);
  // The border of our own generated file: the script and these types are kept together by a test.
  const reduced = JSON.parse(readModel(file)) as ReducedModel;
  const shapes = new Map<string, Structure>();
  const structure = (ref: string): Structure => {
    const name = ref.slice(1);
    const known = shapes.get(name);
    if (known !== undefined) return known;
    const made = toStructure(reduced.shapes[name] ?? missing(name));
    shapes.set(name, made);
    return made;
  };
  const structureOf = (ref: string) => (ref === "unit" ? undefined : structure(ref));
  const operations = Object.entries(reduced.operations).map(
    ([name, { input, output, ...place }]) =>
      [name, { name, ...place, input: structureOf(input), output: structureOf(output) }] as const,
  );
  const { protocol, version, namespace, target, forms, errors } = reduced;
  return {
    service,
    protocol,
    version,
    namespace,
    target,
    errors,
    ...(forms === undefined ? {} : { forms }),
    operations: new Map(operations),
    structure,
  };
}

/** Is it the reference of a structure? */
export function isStructure(ref: Ref): ref is `#${string}` {
  return typeof ref === "string" && ref.startsWith("#");
}

interface ReducedModel extends Pick<
  ServiceModel,
  "protocol" | "version" | "namespace" | "target" | "forms" | "errors"
> {
  readonly operations: Readonly<
    Record<string, { input: string; output: string; method?: string; uri?: string; status?: number }>
  >;
  readonly shapes: Readonly<Record<string, ReducedStructure>>;
}

interface ReducedStructure {
  readonly members: Readonly<Record<string, Ref | Member>>;
  readonly required?: readonly string[];
  readonly name?: string;
}

function toStructure({ members, required = [], name }: ReducedStructure): Structure {
  const whole = Object.entries(members).map(([member, form]) => [member, toMember(form)] as const);
  return {
    members: Object.fromEntries(whole),
    required,
    ...(name === undefined ? {} : { name }),
  };
}

function toMember(form: Ref | Member): Member {
  return typeof form === "object" && "ref" in form ? form : { ref: form };
}

function readModel(file: URL): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new Error("The models of the services are missing: `npm run build` makes them.", { cause });
  }
}

function missing(name: string): never {
  throw new Error(`The model names a shape ${name} that it lacks.`);
}

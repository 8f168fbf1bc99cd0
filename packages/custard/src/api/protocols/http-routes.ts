/** Which operation a method, a path and a query mean, for services whose operations have paths. */
import type { Operation, ServiceModel } from "../model.ts";
import type { WireRequest } from "../wire.ts";

/** A request that names an operation, and what its path names. */
export interface Routed {
  readonly operation: Operation;
  readonly labels: Readonly<Record<string, string>>;
}

/** What a path must be like. */
interface Route {
  readonly operation: Operation;
  readonly method: string;
  /** Literal text, or the name of a label in braces; `{Key+}` takes all that is left. */
  readonly segments: readonly string[];
  /** Parts of the query that must be there as they stand; a value of undefined: only the name must. */
  readonly literals: readonly (readonly [name: string, value: string | undefined])[];
  readonly wanted: Wanted;
}

/** Names in query and headers without which the operation can't be meant. */
interface Wanted {
  readonly query: readonly string[];
  readonly headers: readonly string[];
}

/** Routes of a model; made once for each. */
export class Routes {
  readonly #routes: readonly Route[];

  /** `segmentsOf` gives the parts of an operation's path, when they aren't simply those of its URI. */
  constructor(
    model: ServiceModel,
    segmentsOf: (operation: Operation, path: string) => readonly string[] = bySlash,
  ) {
    this.#routes = [...model.operations.values()]
      .flatMap((operation) => toRoute(operation, segmentsOf) ?? [])
      .toSorted((a, b) => specificity(b) - specificity(a));
  }

  /** The most particular operation that fits. `path` is decoded, in segments. */
  find(request: WireRequest, path: readonly string[]): Routed | undefined {
    for (const route of this.#routes) {
      if (route.method !== request.method || !meets(route, request)) continue;
      const labels = matchPath(route.segments, path);
      if (labels !== undefined) return { operation: route.operation, labels };
    }
    return undefined;
  }
}

function toRoute(
  operation: Operation,
  segmentsOf: (operation: Operation, path: string) => readonly string[],
): Route | undefined {
  const { method, uri, input } = operation;
  if (method === undefined || uri === undefined) return undefined;
  const [path = "/", query = ""] = uri.split("?");
  const literals = query.split("&").flatMap((part) => {
    const [name = "", value] = part.split("=");
    // Only newer clients send `x-id`.
    return name === "" || name === "x-id" ? [] : [[name, value] as const];
  });
  const members = (input?.required ?? []).flatMap((name) => input?.members[name] ?? []);
  return {
    operation,
    method,
    segments: segmentsOf(operation, path),
    literals,
    wanted: {
      query: members.flatMap(({ query: name }) => name ?? []),
      headers: members.flatMap(({ header }) => header?.toLowerCase() ?? []),
    },
  };
}

function bySlash(_operation: Operation, path: string): readonly string[] {
  return path.split("/").slice(1);
}

function specificity({ segments, literals, wanted }: Route): number {
  const fixed = segments.filter((segment) => !segment.startsWith("{")).length;
  return fixed * 100 + (literals.length + wanted.query.length + wanted.headers.length) * 10;
}

function meets({ literals, wanted }: Route, { query, headers }: WireRequest): boolean {
  return (
    literals.every(([name, value]) =>
      query.some(([given, text]) => given === name && (value === undefined || value === text)),
    ) &&
    wanted.query.every((name) => query.some(([given]) => given === name)) &&
    wanted.headers.every((name) => headers[name] !== undefined)
  );
}

function matchPath(
  segments: readonly string[],
  path: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const labels: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const part = path[index];
    if (segment.endsWith("+}")) {
      const rest = path.slice(index).join("/");
      return rest === "" ? undefined : { ...labels, [segment.slice(1, -2)]: rest };
    }
    if (part === undefined) return undefined;
    if (!segment.startsWith("{") ? segment !== part : part === "") return undefined;
    if (segment.startsWith("{")) labels[segment.slice(1, -1)] = part;
  }
  return path.length === segments.length ? labels : undefined;
}

import type { DiagnosticCode } from "./diagnostic-codes.ts";
import { unresolved, walkCalls, type Call, type Expression } from "./expression.ts";
import type { Faults } from "./faults.ts";
import type { Intrinsic, Scope, Site } from "./intrinsic.ts";
import { intrinsics, supportedFunctions } from "./intrinsics.ts";
import type { LineIndex } from "./line-index.ts";
import { isPseudoParameter } from "./pseudo-parameters.ts";
import type { MapEntry, MapNode, SourceNode } from "./source-node.ts";
import type { Mappings, ParameterDeclaration } from "./template.ts";
import type { Value } from "./value.ts";

/** What expressions are parsed with: the same for a whole template. */
export interface Parsing {
  readonly faults: Faults;
  readonly mappings: Mappings;
  readonly parameters: ReadonlyMap<string, ParameterDeclaration>;
  /** Does the template use `AWS::LanguageExtensions`? */
  readonly extensions: boolean;
  /** Lines and columns of the template's text. */
  readonly lines: LineIndex;
}

/** `Parsing` within one part of the template. */
export interface ScopedParsing extends Parsing {
  readonly scope: Scope;
}

/** Parses what stands where a value is wanted. Reports to `parsing.faults`; what is wrong becomes a call that has no value. */
export function parseExpression(node: SourceNode, path: string, parsing: ScopedParsing): Expression {
  switch (node.kind) {
    case "scalar":
      return { kind: "constant", value: node.value };
    case "list":
      return listExpression(
        node.items.map((item, index) => parseExpression(item, `${path}/${index}`, parsing)),
      );
    case "map":
      return parseMap(node, path, parsing);
  }
}

/** Does an expression depend on resources, imported values or zones: on what only a deployment knows? */
export function dependsOnDeployment(expression: Expression, parsing: Parsing): boolean {
  let depends = false;
  walkCalls(expression, ({ name, references }) => {
    const refers = references.some(
      (each) => each.kind === "attribute" || (each.kind === "ref" && !isParameter(each.name, parsing)),
    );
    depends ||= refers || intrinsics.get(name)?.external === true;
  });
  return depends;
}

/** Parses what stands where a condition is wanted; undefined after reporting, or when it is no condition at all. */
export function parseCondition(
  node: SourceNode,
  path: string,
  parsing: ScopedParsing,
): Expression | undefined {
  const entry = node.kind === "map" && node.entries.length === 1 ? node.entries[0] : undefined;
  const intrinsic = entry && intrinsics.get(entry.key);
  if (entry === undefined || !intrinsic?.boolean) return undefined;
  return parseCall(entry, intrinsic, new CallSite(entry, path, parsing));
}

function listExpression(items: readonly Expression[]): Expression {
  const values: Value[] = [];
  for (const item of items) {
    if (item.kind !== "constant") return { kind: "list", items };
    values.push(item.value);
  }
  return { kind: "constant", value: values };
}

function parseMap(node: MapNode, path: string, parsing: ScopedParsing): Expression {
  const call = soleCall(node);
  if (call !== undefined) return parseFunction(call, path, parsing);
  const values = node.entries.map(({ key, value }) => parseExpression(value, `${path}/${key}`, parsing));
  if (!values.every((value) => value.kind === "constant")) {
    return { kind: "map", entries: node.entries.map(({ key }, index) => [key, values[index] ?? nothing]) };
  }
  const constants = node.entries.map(({ key }, index): [string, Value] => [
    key,
    values[index]?.value ?? null,
  ]);
  return { kind: "constant", value: Object.fromEntries(constants) };
}

/** A map of one key that is a function's name is a call. `Condition` is a call only where a condition is wanted. */
function soleCall(node: MapNode): MapEntry | undefined {
  const [entry, ...more] = node.entries;
  if (entry === undefined || more.length > 0) return undefined;
  return entry.key === "Ref" || entry.key.startsWith("Fn::") ? entry : undefined;
}

function parseFunction(entry: MapEntry, path: string, parsing: ScopedParsing): Expression {
  const intrinsic = intrinsics.get(entry.key);
  if (intrinsic === undefined || (intrinsic.extension && !parsing.extensions))
    return refuseUnknown(entry, path, parsing);
  return parseCall(entry, intrinsic, new CallSite(entry, path, parsing)) ?? nothing;
}

/** Stands for what could not be parsed, so that more can be found; a template with such a thing is never evaluated. */
const nothing: Expression = {
  kind: "call",
  name: "",
  argument: { kind: "scalar", value: null, offset: 0 },
  path: "",
  offset: 0,
  operands: [],
  references: [],
  evaluate: () => unresolved,
};

function parseCall(entry: MapEntry, intrinsic: Intrinsic, site: CallSite): Call | undefined {
  if (!intrinsic.scopes.includes(site.scope))
    return site.refuse(misplaced(entry.key, site.scope), "MisplacedFunction");
  const operation = intrinsic.parse(entry.value, site);
  if (operation === undefined) return undefined;
  return {
    ...operation,
    kind: "call",
    name: entry.key,
    argument: entry.value,
    path: site.path,
    offset: site.offset,
  };
}

function misplaced(name: string, scope: Scope): string {
  switch (scope) {
    case "Conditions":
      return `Template error: Cannot use ${name} in Conditions.`;
    case "Rules":
      return `Template error: Cannot use ${name} in Rules.`;
    case "ExportName":
      return `Template error: Cannot use ${name} in the Name of an Export.`;
    case "Resources":
    case "Outputs":
      return `Template error: ${name} cannot be used in the ${scope} block of the template`;
  }
}

function refuseUnknown(
  { key, keyOffset: offset }: MapEntry,
  path: string,
  { extensions, faults }: ScopedParsing,
): Expression {
  const supported = supportedFunctions(extensions);
  const message = `Template error: Encountered unsupported function: ${key} Supported functions are: [${supported}]`;
  // A preprocessor's directive that its user forgot to run.
  const hint = key.startsWith("Fn::Rain::")
    ? "this is for rain: deploy what rain pkg makes of the template"
    : undefined;
  const fault = { code: "UnknownFunction", message, path: `${path}/${key}`, offset } as const;
  faults.report(hint === undefined ? fault : { ...fault, hint });
  return nothing;
}

function isParameter(name: string, { parameters }: Parsing): boolean {
  return isPseudoParameter(name) || parameters.has(name);
}

/** A class because there is one for each call of a template: its methods are shared. */
class CallSite implements Site {
  readonly path: string;
  readonly offset: number;
  readonly #parsing: ScopedParsing;

  constructor(entry: MapEntry, path: string, parsing: ScopedParsing) {
    this.path = `${path}/${entry.key}`;
    this.offset = entry.keyOffset;
    this.#parsing = parsing;
  }

  get scope(): Scope {
    return this.#parsing.scope;
  }

  get mappings(): Mappings {
    return this.#parsing.mappings;
  }

  get extensions(): boolean {
    return this.#parsing.extensions;
  }

  parametersOfType(type: string): readonly string[] {
    return [...this.#parsing.parameters.values()].flatMap((each) => (each.type === type ? [each.name] : []));
  }

  dependsOnDeployment(expression: Expression): boolean {
    return dependsOnDeployment(expression, this.#parsing);
  }

  expression(node: SourceNode, segment: string | number): Expression {
    return parseExpression(node, this.#part(segment), this.#parsing);
  }

  condition(node: SourceNode, segment: string | number): Expression | undefined {
    return parseCondition(node, this.#part(segment), this.#parsing);
  }

  refuse(message: string, code: DiagnosticCode = "InvalidFunction"): undefined {
    this.#parsing.faults.report({ code, message, path: this.path, offset: this.offset });
    return undefined;
  }

  #part(segment: string | number): string {
    return segment === "" ? this.path : `${this.path}/${segment}`;
  }
}

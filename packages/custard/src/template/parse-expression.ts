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

/** Where an expression stands. */
export interface Place {
  readonly scope: Scope;
  readonly path: string;
}

/** Parses what stands where a value is wanted. Reports to `parsing.faults`; what is wrong becomes a null. */
export function parseExpression(node: SourceNode, place: Place, parsing: Parsing): Expression {
  switch (node.kind) {
    case "scalar":
      return { kind: "constant", value: node.value };
    case "list":
      return listExpression(
        node.items.map((item, index) => parseExpression(item, below(place, index), parsing)),
      );
    case "map":
      return parseMap(node, place, parsing);
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
export function parseCondition(node: SourceNode, place: Place, parsing: Parsing): Expression | undefined {
  const entry = node.kind === "map" && node.entries.length === 1 ? node.entries[0] : undefined;
  const intrinsic = entry && intrinsics.get(entry.key);
  if (entry === undefined || !intrinsic?.boolean) return undefined;
  return parseCall(entry, intrinsic, { place, parsing });
}

function listExpression(items: readonly Expression[]): Expression {
  const values: Value[] = [];
  for (const item of items) {
    if (item.kind !== "constant") return { kind: "list", items };
    values.push(item.value);
  }
  return { kind: "constant", value: values };
}

function parseMap(node: MapNode, place: Place, parsing: Parsing): Expression {
  const call = soleCall(node);
  if (call !== undefined) return parseFunction(call, place, parsing);
  const entries = node.entries.map(({ key, value }): [string, Expression] => {
    return [key, parseExpression(value, below(place, key), parsing)];
  });
  const values: [string, Value][] = [];
  for (const [key, value] of entries) {
    if (value.kind !== "constant") return { kind: "map", entries };
    values.push([key, value.value]);
  }
  return { kind: "constant", value: Object.fromEntries(values) };
}

/** A map of one key that is a function's name is a call. `Condition` is a call only where a condition is wanted. */
function soleCall(node: MapNode): MapEntry | undefined {
  const [entry, ...more] = node.entries;
  if (entry === undefined || more.length > 0) return undefined;
  return entry.key === "Ref" || entry.key.startsWith("Fn::") ? entry : undefined;
}

function parseFunction(entry: MapEntry, place: Place, parsing: Parsing): Expression {
  const intrinsic = intrinsics.get(entry.key);
  if (intrinsic === undefined || (intrinsic.extension && !parsing.extensions))
    return refuseUnknown(entry, place, parsing);
  return parseCall(entry, intrinsic, { place, parsing }) ?? nothing;
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

function parseCall(
  entry: MapEntry,
  intrinsic: Intrinsic,
  { place, parsing }: { place: Place; parsing: Parsing },
): Call | undefined {
  const site = siteOf(entry, place, parsing);
  if (!mayStand(intrinsic, place.scope)) {
    return site.refuse(misplaced(entry.key, place.scope), "MisplacedFunction");
  }
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

function mayStand(intrinsic: Intrinsic, scope: Scope): boolean {
  return intrinsic.scopes.includes(scope);
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

function refuseUnknown(entry: MapEntry, place: Place, parsing: Parsing): Expression {
  const supported = supportedFunctions(parsing.extensions);
  const message = `Template error: Encountered unsupported function: ${entry.key} Supported functions are: [${supported}]`;
  parsing.faults.report({
    code: "UnknownFunction",
    message,
    path: `${place.path}/${entry.key}`,
    offset: entry.keyOffset,
  });
  return nothing;
}

function below(place: Place, segment: string | number): Place {
  return { scope: place.scope, path: `${place.path}/${segment}` };
}

function isParameter(name: string, { parameters }: Parsing): boolean {
  return isPseudoParameter(name) || parameters.has(name);
}

function siteOf(entry: MapEntry, place: Place, parsing: Parsing): Site {
  const own = below(place, entry.key);
  const part = (segment: string | number): Place => (segment === "" ? own : below(own, segment));
  return {
    scope: place.scope,
    path: own.path,
    offset: entry.keyOffset,
    mappings: parsing.mappings,
    extensions: parsing.extensions,
    parametersOfType: (type) =>
      [...parsing.parameters.values()].flatMap((each) => (each.type === type ? [each.name] : [])),
    dependsOnDeployment: (expression) => dependsOnDeployment(expression, parsing),
    expression: (node, segment) => parseExpression(node, part(segment), parsing),
    condition: (node, segment) => parseCondition(node, part(segment), parsing),
    refuse(message: string, code: DiagnosticCode = "InvalidFunction") {
      parsing.faults.report({ code, message, path: own.path, offset: entry.keyOffset });
      return undefined;
    },
  };
}

/** Functions that make texts of texts. */
import { Buffer } from "node:buffer";
import type { Expression, Operation, Reference, Result, Run } from "../expression.ts";
import { unresolved } from "../expression.ts";
import type { Intrinsic, Scope, Site } from "../intrinsic.ts";
import { compute, evaluate, isList, marked, text } from "../run.ts";
import { textOf, type MapNode, type SourceNode } from "../source-node.ts";
import { isSensitive, reveal } from "../value.ts";
import { readAttribute, refer } from "./reference.ts";
import { parseSub, type SubPart } from "./sub-text.ts";

const everywhere: readonly Scope[] = ["Resources", "Outputs", "ExportName", "Conditions", "Rules"];

const badJoin =
  "Template error: every Fn::Join object requires two parameters, (1) a string delimiter and (2) a list of strings to be joined " +
  "or a function that returns a list of strings (such as Fn::GetAZs) to be joined.";

/** `Fn::Join`. */
export const join: Intrinsic = {
  scopes: everywhere,
  parse(argument, site) {
    if (argument.kind !== "list" || argument.items.length !== 2) return site.refuse(badJoin);
    const [delimiter, list] = argument.items;
    const separator = textOf(delimiter);
    if (separator === undefined || list === undefined || list.kind === "scalar") return site.refuse(badJoin);
    const items = site.expression(list, 1);
    if (items.kind === "map" || (items.kind === "constant" && !isTextList(items.value)))
      return site.refuse(badJoin);
    return {
      operands: [items],
      references: [],
      evaluate: (run) =>
        compute(run, [items], ([values]) => {
          const texts = isList(values) ? values.map(text) : [undefined];
          return texts.every((item) => item !== undefined)
            ? texts.join(separator)
            : run.fail(site.path, badJoin);
        }),
    };
  },
};

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => item !== null && typeof item !== "object");
}

const badSplit =
  "Template error: every Fn::Split object requires two parameters, (1) a string delimiter and (2) a string to be split " +
  "or a function that returns a string to be split.";

/** `Fn::Split`. */
export const split: Intrinsic = {
  scopes: everywhere,
  parse(argument, site) {
    if (argument.kind !== "list" || argument.items.length !== 2) return site.refuse(badSplit);
    const [delimiter, source] = argument.items;
    const separator = textOf(delimiter);
    if (separator === undefined || separator === "" || source === undefined || source.kind === "list")
      return site.refuse(badSplit);
    const whole = site.expression(source, 1);
    if (whole.kind === "map" || (whole.kind === "constant" && text(reveal(whole.value)) === undefined))
      return site.refuse(badSplit);
    return {
      operands: [whole],
      references: [],
      evaluate: (run) =>
        compute(run, [whole], ([value]) => text(value)?.split(separator) ?? run.fail(site.path, badSplit)),
    };
  },
};

/** `Fn::Base64`. */
export const base64: Intrinsic = {
  scopes: ["Resources", "Outputs"],
  parse(argument, site) {
    const bad = "Template error: every Fn::Base64 object must have a String-typed value.";
    if (argument.kind === "list") return site.refuse(bad);
    const plain = site.expression(argument, "");
    if (plain.kind === "map" || (plain.kind === "constant" && text(reveal(plain.value)) === undefined))
      return site.refuse(bad);
    return {
      operands: [plain],
      references: [],
      evaluate: (run) =>
        compute(run, [plain], ([value]) => {
          const written = text(value);
          return written === undefined
            ? run.fail(site.path, bad)
            : Buffer.from(written, "utf8").toString("base64");
        }),
    };
  },
};

/** `Fn::ToJsonString`: the compact JSON of a map or list. */
export const toJsonString: Intrinsic = {
  scopes: ["Resources", "Outputs"],
  extension: true,
  parse(argument, site) {
    if (argument.kind === "scalar") {
      return site.refuse("Template error: every Fn::ToJsonString object requires an object or a list.");
    }
    const whole = site.expression(argument, "");
    return {
      operands: [whole],
      references: [],
      evaluate: (run) => compute(run, [whole], ([value]) => JSON.stringify(value ?? null)),
    };
  },
};

const badSub =
  "Template error: One or more Fn::Sub intrinsic functions don't specify expected arguments. Specify a string as first argument, " +
  "and an optional second argument to specify a mapping of values to replace in the string";
const badVariable =
  "Template error: variable names in Fn::Sub syntax must contain only alphanumeric characters, underscores, periods, and colons";

/** `Fn::Sub`: a text, or a text and a map of variables. */
export const sub: Intrinsic = {
  scopes: everywhere,
  parse(argument, site) {
    const [template, variables] = argument.kind === "list" ? argument.items : [argument];
    const written = textOf(template);
    if (written === undefined || !hasSubShape(argument, variables)) return site.refuse(badSub);
    const parts = parseSub(written);
    if (parts === undefined) return site.refuse(badVariable);
    const given = variables?.kind === "map" ? subVariables(variables, site) : new Map<string, Expression>();
    const fault = variablesFault(given);
    return fault === undefined ? subOperation(parts, given, site) : site.refuse(fault);
  },
};

function hasSubShape(argument: SourceNode, variables: SourceNode | undefined): boolean {
  if (argument.kind === "scalar") return true;
  return argument.kind === "list" && argument.items.length === 2 && variables?.kind === "map";
}

function subVariables(variables: MapNode, site: Site): ReadonlyMap<string, Expression> {
  return new Map(
    variables.entries.map((entry) => [entry.key, site.expression(entry.value, `1/${entry.key}`)]),
  );
}

function variablesFault(given: ReadonlyMap<string, Expression>): string | undefined {
  if (![...given.keys()].every((key) => /^[A-Za-z0-9_]+$/.test(key))) {
    return "Template error: every key of the context object of every Fn::Sub object must contain only alphanumeric characters and underscores";
  }
  const isText = (value: Expression): boolean =>
    value.kind === "call" || (value.kind === "constant" && text(reveal(value.value)) !== undefined);
  return [...given.values()].every(isText)
    ? undefined
    : "Template error: every value of the context object of every Fn::Sub object must be a string or a function that returns a string";
}

function subOperation(
  parts: readonly SubPart[],
  given: ReadonlyMap<string, Expression>,
  { path, offset }: Site,
): Operation {
  const free = parts.flatMap((part) => (part.kind === "variable" && !given.has(part.name) ? [part] : []));
  const references = free.map((part): Reference => {
    return part.attribute === undefined
      ? { kind: "ref", name: part.name, path, offset }
      : { kind: "attribute", name: part.logicalId, path, offset, missing: invalidAttribute(part.name) };
  });
  return {
    operands: [...given.values()],
    references,
    evaluate: (run) => substitute(parts, (part) => subValue(part, { given, path, run }), { path, run }),
  };
}

function invalidAttribute(name: string): string {
  return `Template error: instance of Fn::Sub references invalid resource attribute ${name}`;
}

type Variable = Extract<SubPart, { kind: "variable" }>;

function subValue(
  part: Variable,
  { given, path, run }: { given: ReadonlyMap<string, Expression>; path: string; run: Run },
): Result {
  const own = given.get(part.name);
  if (own !== undefined) return evaluate(own, run);
  if (part.attribute === undefined) return refer(part.name, run);
  return readAttribute({ logicalId: part.logicalId, attribute: part.attribute, path }, run);
}

// Every variable is looked up even when one has no value, so that all needs are known at once.
function substitute(
  parts: readonly SubPart[],
  valueOf: (part: Variable) => Result,
  { path, run }: { path: string; run: Run },
): Result {
  let whole = "";
  let sensitive = false;
  let complete = true;
  for (const part of parts) {
    if (part.kind === "text") {
      whole += part.text;
      continue;
    }
    const value = valueOf(part);
    const written = value === unresolved ? undefined : text(value === undefined ? undefined : reveal(value));
    if (value === unresolved) complete = false;
    else if (written === undefined) {
      run.fail(
        path,
        `Template error: variable ${part.name} in Fn::Sub expression does not resolve to a string`,
      );
      complete = false;
    }
    sensitive ||= value !== undefined && value !== unresolved && isSensitive(value);
    whole += written ?? "";
  }
  return complete ? marked(whole, sensitive) : unresolved;
}

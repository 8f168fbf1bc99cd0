/** Functions that refer to something: parameters, resources, mappings, exports. */
import type { Expression, Operation, Result, Run } from "../expression.ts";
import type { Intrinsic, Scope, Site } from "../intrinsic.ts";
import { isPseudoParameter, pseudoValue } from "../pseudo-parameters.ts";
import { compute, evaluate, text } from "../run.ts";
import { textOf, type SourceNode } from "../source-node.ts";
import type { Mappings } from "../template.ts";
import type { Value } from "../value.ts";

const everywhere: readonly Scope[] = ["Resources", "Outputs", "ExportName", "Conditions", "Rules"];

/** The value that a name stands for: a pseudo parameter, a parameter or a resource. */
export function refer(name: string, run: Run): Result {
  if (isPseudoParameter(name)) return pseudoValue(name, run.known.pseudo);
  const parameter = run.known.parameters.get(name);
  if (parameter !== undefined) return parameter.value;
  const resource = run.known.resource(name);
  return resource === undefined ? run.need({ kind: "resource", logicalId: name }) : resource.ref;
}

/** A resource's attribute; a failed look-up fails with the resource's own message (facts 52 to 56, 101). */
export function readAttribute(
  target: { logicalId: string; attribute: string; path: string },
  run: Run,
): Result {
  const resource = run.known.resource(target.logicalId);
  if (resource === undefined) return run.need({ kind: "resource", logicalId: target.logicalId });
  const found = resource.attribute(target.attribute);
  return found.kind === "value" ? found.value : run.fail(target.path, found.message);
}

/** `Ref`. */
export const ref: Intrinsic = {
  scopes: everywhere,
  parse(argument, site) {
    const { path, offset } = site;
    const name = textOf(argument);
    if (name === undefined || name === "") {
      return site.refuse("Template error: every Ref object must have a single String value.");
    }
    return {
      operands: [],
      references: [{ kind: "ref", name, path, offset }],
      evaluate: (run) => refer(name, run),
    };
  },
};

const badGetAtt =
  "Template error: every Fn::GetAtt object requires two non-empty parameters, the resource name and the resource attribute";

/** `Fn::GetAtt`: `[name, attribute]` or `"name.attribute"`; the attribute's name may have dots, and may be computed. */
export const getAtt: Intrinsic = {
  scopes: ["Resources", "Outputs"],
  parse(argument, site) {
    const target = argument.kind === "list" ? listedTarget(argument.items, site) : dottedTarget(argument);
    if (target === undefined) return site.refuse(badGetAtt);
    const { logicalId, attribute } = target;
    const { path, offset } = site;
    return {
      operands: [attribute],
      references: [
        { kind: "attribute", name: logicalId, path, offset, missing: undefinedResource(logicalId) },
      ],
      evaluate: (run) =>
        compute(run, [attribute], ([name]) => {
          const written = text(name);
          return written === undefined
            ? run.fail(path, badGetAtt)
            : readAttribute({ logicalId, attribute: written, path }, run);
        }),
    };
  },
};

function undefinedResource(logicalId: string): string {
  return `Template error: instance of Fn::GetAtt references undefined resource ${logicalId}`;
}

interface Target {
  readonly logicalId: string;
  readonly attribute: Expression;
}

function dottedTarget(argument: SourceNode): Target | undefined {
  const written = textOf(argument) ?? "";
  const dot = written.indexOf(".");
  if (dot < 1 || dot === written.length - 1) return undefined;
  return { logicalId: written.slice(0, dot), attribute: { kind: "constant", value: written.slice(dot + 1) } };
}

function listedTarget(items: readonly SourceNode[], site: Site): Target | undefined {
  const [first, ...rest] = items;
  const logicalId = textOf(first);
  if (logicalId === undefined || logicalId === "" || rest.length === 0) return undefined;
  const texts = rest.map(textOf);
  if (texts.every((part) => part !== undefined && part !== "")) {
    return { logicalId, attribute: { kind: "constant", value: texts.join(".") } };
  }
  const [attribute] = rest;
  if (attribute === undefined || rest.length > 1 || attribute.kind !== "map") return undefined;
  return { logicalId, attribute: site.expression(attribute, 1) };
}

/** `Fn::ImportValue`. */
export const importValue: Intrinsic = {
  scopes: ["Resources", "Outputs"],
  external: true,
  parse(argument, site) {
    const { path } = site;
    const name = site.expression(argument, "");
    if (site.dependsOnDeployment(name)) {
      return site.refuse(
        "Template error: the attribute in Fn::ImportValue must not depend on any resources, imported values, or Fn::GetAZs",
      );
    }
    return {
      operands: [name],
      references: [],
      evaluate: (run) =>
        compute(run, [name], ([value]) => {
          const written = text(value);
          if (written === undefined)
            return run.fail(path, "Template error: every Fn::ImportValue object must have a String value.");
          return run.known.imports.get(written) ?? run.need({ kind: "import", name: written });
        }),
    };
  },
};

const badFindInMap =
  "Template error: every Fn::FindInMap object requires three parameters, the map name, map key and the attribute for return value";

/** `Fn::FindInMap`; its fourth argument `{DefaultValue: …}` needs the language extensions. */
export const findInMap: Intrinsic = {
  scopes: ["Resources", "Outputs", "ExportName", "Conditions", "Rules"],
  parse(argument, site) {
    if (argument.kind !== "list") return site.refuse(badFindInMap);
    const fallback = defaultValue(argument.items[3], site);
    if (argument.items.length !== (fallback === undefined ? 3 : 4)) return site.refuse(badFindInMap);
    const keys = argument.items.slice(0, 3).map((item, index) => site.expression(item, index));
    const name = textOf(argument.items[0]);
    if (fallback === undefined && name !== undefined && !site.mappings.has(name)) {
      return site.refuse(
        `Template error: Mapping named '${name}' is not present in the 'Mappings' section of template.`,
      );
    }
    return findOperation(keys, fallback, site);
  },
};

function defaultValue(node: SourceNode | undefined, site: Site): Expression | undefined {
  const entry = node?.kind === "map" && node.entries.length === 1 ? node.entries[0] : undefined;
  if (entry === undefined || entry.key !== "DefaultValue" || !site.extensions) return undefined;
  return site.expression(entry.value, "3/DefaultValue");
}

function findOperation(
  keys: readonly Expression[],
  fallback: Expression | undefined,
  { path, mappings }: Site,
): Operation {
  return {
    operands: fallback === undefined ? keys : [...keys, fallback],
    references: [],
    evaluate: (run) =>
      compute(run, keys, (values) => {
        const names = values.map((value) => text(value));
        const found = lookUp(mappings, names);
        if (found !== undefined) return found;
        if (fallback !== undefined) return evaluate(fallback, run);
        return run.fail(path, `Template error: Unable to get mapping for ${names.join("::")}`);
      }),
  };
}

function lookUp(
  mappings: Mappings,
  [name, key, attribute]: readonly (string | undefined)[],
): Value | undefined {
  if (name === undefined || key === undefined || attribute === undefined) return undefined;
  return mappings.get(name)?.get(key)?.get(attribute);
}

/** Regions whose zones aren't a, b and c. Source: the list of regions and availability zones. */
const zones: ReadonlyMap<string, string> = new Map([
  ["us-east-1", "abcdef"],
  ["us-west-1", "ac"],
  ["us-west-2", "abcd"],
  ["ca-central-1", "abd"],
  ["ap-northeast-1", "acd"],
  ["ap-northeast-2", "abcd"],
]);

/** The zones of a region, as most accounts see them. */
export const getAzs: Intrinsic = {
  scopes: ["Resources", "Outputs"],
  external: true,
  parse(argument, site) {
    const region = site.expression(argument, "");
    return {
      operands: [region],
      references: [],
      evaluate: (run) =>
        compute(run, [region], ([value]) => {
          const written = text(value);
          if (written === undefined)
            return run.fail(
              site.path,
              "Template error: every Fn::GetAZs object must have a String-typed value.",
            );
          const name = written === "" ? run.known.pseudo.region : written;
          return Array.from(zones.get(name) ?? "abc", (zone) => `${name}${zone}`);
        }),
    };
  },
};

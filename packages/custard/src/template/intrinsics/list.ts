/** Functions on lists. */
import type { Json } from "@custard/provider/protocol";
import { unresolved, type Expression, type Result, type Run } from "../expression.ts";
import type { Intrinsic, Scope, Site } from "../intrinsic.ts";
import { compute, evaluate, integer, isList, marked, text } from "../run.ts";
import { isValueList, reveal, Sensitive, type Value } from "../value.ts";
import { subnets } from "./subnets.ts";

const everywhere: readonly Scope[] = ["Resources", "Outputs", "ExportName", "Conditions", "Rules"];

const badSelect =
  "Template error: Fn::Select requires a list argument with two elements: an integer index and a list";

/** `Fn::Select`. */
export const select: Intrinsic = {
  scopes: everywhere,
  parse(argument, site) {
    if (argument.kind !== "list" || argument.items.length !== 2) return site.refuse(badSelect);
    const [index, list] = argument.items.map((item, at) => site.expression(item, at));
    if (index === undefined || list === undefined || !selectShape(index, list)) return site.refuse(badSelect);
    return {
      operands: [index, list],
      references: [],
      evaluate: (run) => {
        const at = compute(run, [index], ([value]) => integer(value) ?? run.fail(site.path, badSelect));
        const items = evaluate(list, run);
        return at === unresolved || items === unresolved ? unresolved : selectItem(at, items, { site, run });
      },
    };
  },
};

function selectShape(index: Expression, list: Expression): boolean {
  const indexIsRight =
    index.kind === "call" || (index.kind === "constant" && integer(reveal(index.value)) !== undefined);
  return (
    indexIsRight &&
    (list.kind === "call" || list.kind === "list" || (list.kind === "constant" && isValueList(list.value)))
  );
}

// Only the item that is taken can make the result sensitive, unless the list as a whole is.
function selectItem(
  index: Value | undefined,
  items: Value | undefined,
  { site, run }: { site: Site; run: Run },
): Result {
  const sensitive = index instanceof Sensitive || items instanceof Sensitive;
  const list = items instanceof Sensitive ? items.reveal() : items;
  if (list === undefined || !isValueList(list)) return run.fail(site.path, badSelect);
  const at = integer(index instanceof Sensitive ? reveal(index) : reveal(index ?? null)) ?? -1;
  const item = at < 0 ? undefined : list[at];
  if (item === undefined) {
    return run.fail(site.path, `Template error: Fn::Select cannot select nonexistent value at index ${at}`);
  }
  return marked(item, sensitive);
}

/** `Fn::Length`. */
export const length: Intrinsic = {
  scopes: ["Resources", "Outputs", "Conditions"],
  extension: true,
  parse(argument, site) {
    const bad = "Template error: Fn::Length requires a list, or a function that returns a list";
    if (argument.kind === "scalar") return site.refuse(bad);
    const list = site.expression(argument, "");
    if (list.kind === "map" || (list.kind === "constant" && !isValueList(list.value)))
      return site.refuse(bad);
    return {
      operands: [list],
      references: [],
      evaluate: (run) =>
        compute(run, [list], ([value]) => (isList(value) ? value.length : run.fail(site.path, bad))),
    };
  },
};

const badCidr =
  "Template error: every Fn::Cidr object requires two or three parameters, (1) a CIDR block, (2) a count from 1 to 256 and (3) the number of subnet bits";

/** `Fn::Cidr`: subnets of an IPv4 or IPv6 block. */
export const cidr: Intrinsic = {
  scopes: ["Resources", "Outputs", "Conditions"],
  parse(argument, site) {
    if (argument.kind !== "list" || argument.items.length < 2 || argument.items.length > 3)
      return site.refuse(badCidr);
    const operands = argument.items.map((item, index) => site.expression(item, index));
    return {
      operands,
      references: [],
      evaluate: (run) =>
        compute(run, operands, (values) => cidrBlocks(values) ?? run.fail(site.path, badCidr)),
    };
  },
};

function cidrBlocks([block, count, bits]: readonly (Json | undefined)[]): readonly string[] | undefined {
  const written = text(block);
  const number = integer(count);
  const subnetBits = bits === undefined ? undefined : integer(bits);
  if (written === undefined || number === undefined || (bits !== undefined && subnetBits === undefined))
    return undefined;
  return subnets(written.trim(), number, subnetBits);
}

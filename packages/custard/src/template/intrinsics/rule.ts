/** Functions that only rules may call. */
import type { Json } from "@custard/provider/protocol";
import { unresolved } from "../expression.ts";
import type { Intrinsic, Site } from "../intrinsic.ts";
import { decision, isList, text, type Decide } from "../run.ts";
import { textOf, type SourceNode } from "../source-node.ts";

/** `Fn::Contains`: is the text among the list? */
export const contains: Intrinsic = listRule("Fn::Contains", ([list, value]) => {
  const wanted = text(value);
  return wanted !== undefined && texts(list).includes(wanted);
});

/** `Fn::EachMemberEquals`: are all members of the list this text? */
export const eachMemberEquals: Intrinsic = listRule("Fn::EachMemberEquals", ([list, value]) => {
  const wanted = text(value);
  return texts(list).every((item) => item === wanted);
});

/** `Fn::EachMemberIn`: is each member of the first list in the second? */
export const eachMemberIn: Intrinsic = listRule("Fn::EachMemberIn", ([list, of]) => {
  const allowed = new Set(texts(of));
  return texts(list).every((item) => item !== undefined && allowed.has(item));
});

function listRule(name: string, decide: Decide): Intrinsic {
  return {
    scopes: ["Rules"],
    boolean: true,
    parse(argument, site) {
      if (argument.kind !== "list" || argument.items.length !== 2) {
        return site.refuse(`Template error: every ${name} object requires a list with two elements.`);
      }
      const operands = argument.items.map((item, index) => site.expression(item, index));
      return decision(operands, decide);
    },
  };
}

function texts(value: Json | undefined): readonly (string | undefined)[] {
  if (isList(value)) return value.map(text);
  return value === undefined ? [] : [text(value)];
}

/** `Fn::RefAll`: all values of the parameters of a type. */
export const refAll: Intrinsic = {
  scopes: ["Rules"],
  parse(argument, site) {
    const type = textOf(argument);
    if (type === undefined)
      return site.refuse("Template error: every Fn::RefAll object must have a single String value.");
    const names = site.parametersOfType(type);
    return {
      operands: [],
      references: [],
      evaluate: (run) => names.flatMap((name) => run.known.parameters.get(name)?.value ?? []),
    };
  },
};

/** `Fn::ValueOf`: an attribute of what a parameter names, which only AWS knows. */
export const valueOf: Intrinsic = attributeRule("Fn::ValueOf");

/** `Fn::ValueOfAll`: an attribute of all that parameters of a type name, which only AWS knows. */
export const valueOfAll: Intrinsic = attributeRule("Fn::ValueOfAll");

function attributeRule(name: string): Intrinsic {
  return {
    scopes: ["Rules"],
    parse(argument: SourceNode, site: Site) {
      if (
        argument.kind !== "list" ||
        argument.items.length !== 2 ||
        !argument.items.every((item) => textOf(item) !== undefined)
      ) {
        return site.refuse(`Template error: every ${name} object requires a list with two string elements.`);
      }
      const subject = textOf(argument.items[0]) ?? "";
      return {
        operands: [],
        references:
          name === "Fn::ValueOf"
            ? [{ kind: "parameter", name: subject, path: site.path, offset: site.offset }]
            : [],
        // Nothing is known of real VPCs and the like: the assertion that asks for it can't be judged.
        evaluate: () => unresolved,
      };
    },
  };
}

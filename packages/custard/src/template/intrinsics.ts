import type { Intrinsic } from "./intrinsic.ts";
import { and, condition, equals, ifElse, not, or } from "./intrinsics/condition.ts";
import { cidr, length, select } from "./intrinsics/list.ts";
import { findInMap, getAtt, getAzs, importValue, ref } from "./intrinsics/reference.ts";
import { contains, eachMemberEquals, eachMemberIn, refAll, valueOf, valueOfAll } from "./intrinsics/rule.ts";
import { base64, join, split, sub, toJsonString } from "./intrinsics/text.ts";

/** Every intrinsic function. `Fn::ForEach` and `Fn::Transform` are none: they are gone before a template is parsed. */
export const intrinsics: ReadonlyMap<string, Intrinsic> = new Map(
  Object.entries({
    "Fn::Base64": base64,
    "Fn::GetAtt": getAtt,
    "Fn::GetAZs": getAzs,
    "Fn::ImportValue": importValue,
    "Fn::Join": join,
    "Fn::Split": split,
    "Fn::FindInMap": findInMap,
    "Fn::Select": select,
    Ref: ref,
    "Fn::Equals": equals,
    "Fn::If": ifElse,
    "Fn::Not": not,
    Condition: condition,
    "Fn::And": and,
    "Fn::Or": or,
    "Fn::Contains": contains,
    "Fn::EachMemberEquals": eachMemberEquals,
    "Fn::EachMemberIn": eachMemberIn,
    "Fn::ValueOf": valueOf,
    "Fn::ValueOfAll": valueOfAll,
    "Fn::RefAll": refAll,
    "Fn::Sub": sub,
    "Fn::Cidr": cidr,
    "Fn::Length": length,
    "Fn::ToJsonString": toJsonString,
  }),
);

/** The names that CloudFormation lists when it meets one that it doesn't know. */
export function supportedFunctions(extensions: boolean): string {
  return [...intrinsics]
    .flatMap(([name, entry]) => (entry.extension && !extensions ? [] : [name]))
    .join(", ");
}

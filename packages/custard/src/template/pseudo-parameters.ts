import type { Pseudo } from "./known.ts";
import type { Value } from "./value.ts";

/** Every pseudo parameter, with its value; `AWS::NoValue` has none. */
const pseudoParameters: ReadonlyMap<string, (pseudo: Pseudo) => Value | undefined> = new Map<
  string,
  (pseudo: Pseudo) => Value | undefined
>([
  ["AWS::AccountId", (pseudo) => pseudo.accountId],
  ["AWS::NoValue", () => undefined],
  ["AWS::NotificationARNs", (pseudo) => pseudo.notificationArns],
  ["AWS::Partition", (pseudo) => pseudo.partition],
  ["AWS::Region", (pseudo) => pseudo.region],
  ["AWS::StackId", (pseudo) => pseudo.stackId],
  ["AWS::StackName", (pseudo) => pseudo.stackName],
  ["AWS::URLSuffix", (pseudo) => pseudo.urlSuffix],
]);

/** Is this the name of a pseudo parameter? */
export function isPseudoParameter(name: string): boolean {
  return pseudoParameters.has(name);
}

/** The value of a pseudo parameter. */
export function pseudoValue(name: string, pseudo: Pseudo): Value | undefined {
  return pseudoParameters.get(name)?.(pseudo);
}

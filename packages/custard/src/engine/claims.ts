import type { StackIdentity } from "./stack.ts";

/** The claim that keeps stack names unique within an account and region. */
export function stackClaim(identity: Pick<StackIdentity, "account" | "region" | "stackName">): string {
  return `stack/${identity.account}/${identity.region}/${identity.stackName}`;
}

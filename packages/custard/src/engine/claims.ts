import type { StackIdentity } from "./stack.ts";

/** The claim that keeps export names unique within an account and region. */
export function exportClaim(place: Pick<StackIdentity, "account" | "region">, exportName: string): string {
  return `export/${place.account}/${place.region}/${exportName}`;
}

/** The claim by which a change set's stack is found. */
export function changeSetClaim(changeSetId: string): string {
  return `change-set/${changeSetId}`;
}

/** The claim that keeps stack names unique within an account and region. */
export function stackClaim(identity: Pick<StackIdentity, "account" | "region" | "stackName">): string {
  return `stack/${identity.account}/${identity.region}/${identity.stackName}`;
}

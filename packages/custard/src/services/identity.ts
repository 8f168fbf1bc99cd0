/** What all of IAM's identities have in common. */
import { randomInt } from "node:crypto";

/** IAM's own codes. */
export type IdentityErrorCode =
  | "DeleteConflict"
  | "EntityAlreadyExists"
  | "LimitExceeded"
  | "MalformedPolicyDocument"
  | "NoSuchEntity"
  | "ValidationError";

/** A refusal in IAM's own words. */
export class IdentityError extends Error {
  override readonly name = "IdentityError";
  readonly code: IdentityErrorCode;

  constructor(code: IdentityErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Whose identities; IAM has no regions. */
export interface IdentityScope {
  readonly partition: string;
  readonly account: string;
  readonly region: string;
}

/** IAM's unique ids: four letters that tell the kind, and 17 characters. */
export function newIdentityId(prefix: string): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  return `${prefix}${Array.from({ length: 17 }, () => letters.charAt(randomInt(32))).join("")}`;
}

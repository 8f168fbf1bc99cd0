/** What CloudFormation's operations work on. */
import type { Engine } from "../../../engine/engine.ts";
import { stackNotFound } from "../../../engine/messages.ts";
import type { StackReference } from "../../../engine/inputs.ts";
import { StackError } from "../../../engine/stack-error.ts";
import type { ApiCall, Scope } from "../../service.ts";

/** Which describing calls are held until a stack settles. */
export type Hold = "waiters" | "all" | "none";

/** What is done with a template that lies in S3. */
export type ReadTemplate = (url: string, scope: Scope) => Promise<string>;

/** What is published of resource types. */
export interface KnownTypes {
  isKnownType(type: string): boolean;
  /** The properties or attributes that tell a resource from all others of its type. */
  identifiersOf(type: string): readonly string[];
}

/** See above. */
export interface CloudFormationWorld {
  readonly engine: Engine;
  /** The text of a template by its URL. Throws `ApiError`. */
  readonly readTemplate: ReadTemplate;
  readonly types: KnownTypes;
  readonly hold: Hold;
  /** Milliseconds for which a call is held at the most. Clients give up after 60 seconds. */
  readonly holdTime: number;
  readonly now: () => number;
}

/** The stack of that name, or of that ARN, for a caller: an ARN of elsewhere is nobody's here. */
export function referenceOf(stack: string, { scope }: Pick<ApiCall, "scope">): StackReference {
  const { region, account } = scope;
  if (isElsewhere(stack, scope)) throw new StackError("StackNotFound", stackNotFound(stack));
  return { stack, region, account };
}

/** Is it an ARN of another region or account? */
export function isElsewhere(text: string, { region, account }: Scope): boolean {
  const [, , , arnRegion, arnAccount] = text.split(":");
  return text.startsWith("arn:") && (arnRegion !== region || arnAccount !== account);
}

/**
 * Runs a call whose refusal of a missing stack has a text of its own (fact 110); `text` makes it of what the caller
 * named.
 */
export async function missingAs<Result>(
  stack: string,
  text: (stack: string) => string,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof StackError && error.code === "StackNotFound")
      throw new StackError("StackNotFound", text(stack), { cause: error });
    throw error;
  }
}

/** Fact 110. */
export function bracketed(stack: string): string {
  return `Stack [${stack}] does not exist`;
}

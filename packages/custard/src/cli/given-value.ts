import { resolve } from "node:path";
import type { Call } from "./command.ts";
import { CliFault } from "./fault.ts";
import { readBounded } from "./read-bounded.ts";

/** The option with which a value comes from a file. */
export const fileOption = {
  flags: "--file <path>",
  description:
    "read the value from a file, without its last line break, so that it isn't in your shell's history; /dev/stdin for a pipe",
} as const;

/** Bytes of a secret, the largest of these values; who stores it refuses more. Source: Secrets Manager's quotas. */
const largestValue = 65_536;

/** The value that a call gives, as an argument or in a file. Throws `CliFault` unless it is exactly one of them. */
export async function givenValue(call: Call): Promise<string> {
  const argument = call.argument("VALUE");
  const path = call.text("file");
  if ((argument === undefined) === (path === undefined)) {
    throw new CliFault("put takes one value", { advice: "Give VALUE, or --file with the path of a file." });
  }
  if (path === undefined) return argument ?? "";
  const bytes = await readBounded(resolve(call.io.cwd, path), largestValue).catch((cause: unknown) => {
    throw new CliFault(`${path} can't be read`, { cause });
  });
  // A line in a file ends with a line break that isn't meant.
  return textOf(bytes, path).replace(/\r?\n$/, "");
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CliFault(`${path} is no text: it is not UTF-8`, { cause });
  }
}

/** The argument that an action can't do without. */
export function needed(call: Call, name: string, action: string): string {
  const value = call.argument(name);
  if (value !== undefined) return value;
  throw new CliFault(`${action} needs ${name}`);
}

/** What an action is called, checked against those that there are. */
export function actionOf<Action extends string>(call: Call, actions: readonly Action[]): Action {
  const given = call.argument("ACTION") ?? "";
  const action = actions.find((each) => each === given);
  if (action !== undefined) return action;
  throw new CliFault(`"${given}" is no action`, { advice: `The actions are ${actions.join(", ")}.` });
}

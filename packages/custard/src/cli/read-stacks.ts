import { chooseStack, wantedBy } from "./choose-stack.ts";
import type { Call } from "./command.ts";
import type { StackView } from "../engine/views.ts";
import type { Reader } from "../reader.ts";
import { placeOf } from "./place.ts";
import { existingState } from "./state-directory.ts";

/** Opens the stacks of a call to read them. */
export async function readStacks<T>(call: Call, read: (local: Reader) => Promise<T>): Promise<T> {
  const local = await call.read({ stateDirectory: existingState(call) });
  try {
    return await read(local);
  } finally {
    await local.close();
  }
}

/** Reads the stack that a call names; without a name, the only one there is. */
export async function readStack<T>(
  call: Call,
  read: (stack: StackView, local: Reader) => Promise<T>,
): Promise<T> {
  placeOf(call);
  return readStacks(call, async (local) => {
    const { stackId } = await chooseStack(local.engine, wantedBy(call));
    return read(await local.engine.stack(stackId), local);
  });
}

/** Writes one JSON document. */
export function writeJson(call: Call, document: unknown): void {
  call.io.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
}

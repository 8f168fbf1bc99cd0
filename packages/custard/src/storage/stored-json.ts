import type { Json } from "@custard/provider/protocol";
import { StorageError } from "./storage-error.ts";

/** JSON that was stored as text. Throws `StorageError` `Corrupt` when it isn't JSON any more. */
export function parseStored(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StorageError(
      "Corrupt",
      "A stored value isn't JSON any more: the state directory was damaged.",
      { cause },
    );
  }
}

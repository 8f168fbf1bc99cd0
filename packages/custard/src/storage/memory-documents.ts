import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";
import { parseStored } from "./stored-json.ts";

/** Documents that last as long as their process. */
export class MemoryDocuments implements Documents {
  readonly #values = new Map<string, string>();
  readonly #blobs = new Map<string, Uint8Array>();

  async get(key: string): Promise<Json | undefined> {
    const text = this.#values.get(key);
    return text === undefined ? undefined : parseStored(text);
  }

  async put(key: string, value: Json): Promise<void> {
    this.#values.set(key, JSON.stringify(value));
  }

  async delete(key: string): Promise<void> {
    this.#values.delete(key);
  }

  async list(prefix: string): Promise<readonly { readonly key: string; readonly value: Json }[]> {
    return [...this.#values]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, text]) => ({ key, value: parseStored(text) }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  async getBlob(key: string): Promise<Uint8Array | undefined> {
    return this.#blobs.get(key)?.slice();
  }

  async putBlob(key: string, bytes: Uint8Array): Promise<void> {
    this.#blobs.set(key, Uint8Array.from(bytes));
  }

  async deleteBlob(key: string): Promise<void> {
    this.#blobs.delete(key);
  }
}

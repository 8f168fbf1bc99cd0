/**
 * Bodies that come in chunks of AWS's own: `<hex size>[;chunk-signature=…]\r\n<bytes>\r\n` …, a chunk of no bytes, and
 * headers after it. Throws `ApiError`.
 */
import { ApiError } from "./api-error.ts";
import type { WireRequest } from "./wire.ts";

/** What judges the signatures of chunks. Throws `ApiError`. */
export interface ChunkVerifier {
  /** One chunk: its bytes as they come, then the signature that came with it. */
  chunk(): { add: (bytes: Uint8Array) => void; end: (signature: string) => void };
  /** What came after the last chunk. */
  trailers(trailers: Readonly<Record<string, string>>): void;
}

/** A size in hex with a signature, or a header after the last chunk. */
const longestLine = 4096;

/** Does the body come so? */
export function isChunked({ headers }: WireRequest): boolean {
  return (
    headers["x-amz-content-sha256"]?.startsWith("STREAMING-") === true ||
    /\baws-chunked\b/i.test(headers["content-encoding"] ?? "")
  );
}

/**
 * What the chunks hold. Headers after the last one go into `trailers`, by lower-case name. A chunk whose signature is
 * wrong throws after its bytes were given.
 */
export async function* decodeChunks(
  source: AsyncIterable<Uint8Array>,
  trailers: Record<string, string>,
  verifier?: ChunkVerifier,
): AsyncGenerator<Uint8Array> {
  const reader = new LineReader(source);
  for (;;) {
    const line = await reader.line();
    const size = parseSize(line);
    yield* verifiedChunk(reader.bytes(size), signatureIn(line), verifier);
    if (size === 0) break;
    if ((await reader.line()) !== "") throw incomplete();
  }
  for await (const line of reader.lines()) {
    const at = line.indexOf(":");
    if (at > 0) trailers[line.slice(0, at).trim().toLowerCase()] = line.slice(at + 1).trim();
  }
  verifier?.trailers(trailers);
  await reader.end();
}

async function* verifiedChunk(
  bytes: AsyncIterable<Uint8Array>,
  signature: string,
  verifier: ChunkVerifier | undefined,
): AsyncGenerator<Uint8Array> {
  const chunk = verifier?.chunk();
  for await (const part of bytes) {
    chunk?.add(part);
    yield part;
  }
  chunk?.end(signature);
}

function signatureIn(line: string): string {
  return /;chunk-signature=([0-9a-f]+)/.exec(line)?.[1] ?? "";
}

/** Lines and counted bytes in turn, from chunks that end anywhere. */
class LineReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    const line = await this.lineOrEnd();
    if (line === undefined) throw incomplete();
    return line;
  }

  /** All lines to the empty one, or to the end of the body. */
  async *lines(): AsyncGenerator<string> {
    for (;;) {
      const line = await this.lineOrEnd();
      if (line === undefined || line === "") return;
      yield line;
    }
  }

  /** Undefined at the end of the body. */
  async lineOrEnd(): Promise<string | undefined> {
    for (;;) {
      const end = this.#rest.indexOf("\r\n");
      if (end >= 0) {
        const line = this.#rest.subarray(0, end).toString("latin1");
        this.#rest = this.#rest.subarray(end + 2);
        return line;
      }
      if (this.#rest.length > longestLine) throw incomplete();
      if (await this.#more()) continue;
      if (this.#rest.length > 0) throw incomplete();
      return undefined;
    }
  }

  async *bytes(count: number): AsyncGenerator<Uint8Array> {
    let wanted = count;
    while (wanted > 0) {
      if (this.#rest.length === 0 && !(await this.#more())) throw incomplete();
      const part = this.#rest.subarray(0, wanted);
      this.#rest = this.#rest.subarray(part.length);
      wanted -= part.length;
      if (part.length > 0) yield part;
    }
  }

  /** Reads on to the end of the body: whoever checks the whole of it is asked only there. */
  async end(): Promise<void> {
    while (await this.#more()) this.#rest = Buffer.alloc(0);
  }

  async #more(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    const chunk = Buffer.from(next.value);
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    return true;
  }
}

function parseSize(line: string): number {
  const text = line.split(";")[0]?.trim() ?? "";
  if (/^[0-9a-fA-F]{1,12}$/.test(text)) return Number.parseInt(text, 16);
  throw incomplete();
}

function incomplete(): ApiError {
  return new ApiError(
    "IncompleteBody",
    "You did not provide the number of bytes specified by the Content-Length HTTP header",
  );
}

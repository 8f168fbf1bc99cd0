import type { IncomingMessage } from "node:http";
import { ApiError } from "./api-error.ts";

/** The whole body. Throws `ApiError` when it is longer than `limit` bytes; what is left is not read. */
export async function readBody(message: IncomingMessage, limit: number): Promise<Uint8Array> {
  if (Number(message.headers["content-length"] ?? 0) > limit) throw tooLarge(limit);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytesOf(message)) {
    length += chunk.length;
    if (length > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The body as it comes. Ends with an error when the client goes away before its end. */
export async function* bytesOf(message: IncomingMessage): AsyncGenerator<Uint8Array> {
  // Without an encoding set, a request's chunks are buffers.
  // Whoever has had enough still has to answer: that doesn't end the connection.
  for await (const chunk of message.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
}

function tooLarge(limit: number): ApiError {
  return new ApiError("RequestEntityTooLarge", `The request is larger than ${limit} bytes.`, { status: 413 });
}

/** What the bucket of wait conditions does with one request: a signal for a handle. */
import type { ArrivedSignal, Clock } from "../engine/ports.ts";
import { accept, answerStored, readBody, refuse, type Exchange } from "./receive-response.ts";
import type { Verified } from "./response-url.ts";
import { s3Error } from "./s3-error.ts";
import type { SignedRequest } from "./sign.ts";
import type { WaitTarget } from "./wait-url.ts";

/** What the bucket needs of the world. */
export interface WaitBucket {
  verify(request: SignedRequest): Verified<WaitTarget>;
  /** Resolves when the signal is durable. When it rejects, the sender is told to try again. */
  onSignal(arrived: ArrivedSignal): Promise<void>;
  readonly clock: Clock;
}

/** Receives one signal. Never rejects: what fails is answered. S3 takes any body; the engine judges it. */
export async function receiveSignal(bucket: WaitBucket, exchange: Exchange): Promise<void> {
  const accepted = accept(bucket, exchange);
  if (!accepted.ok) {
    refuse(bucket, exchange, accepted.error);
    return;
  }
  const body = await readBody(exchange);
  if (!body.complete) return;
  try {
    await bucket.onSignal({ ...accepted.target, body: body.kept });
  } catch {
    // Trouble inside, which its own layer reports; here it only means that the sender should come again.
    refuse(bucket, exchange, s3Error("SlowDown"));
    return;
  }
  answerStored(exchange, body);
}

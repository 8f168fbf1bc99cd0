import type { Clock } from "./clock.ts";
import type { Transport } from "./transport.ts";

/** What a delivery needs. */
export interface DeliveryOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Milliseconds that are left to the process. */
  remaining(): number;
  /** Told of each attempt that failed. */
  onFailure?(attempt: number, problem: string): void;
}

/** An answer that could not be delivered. It says nothing about the operation, whose outcome stands. */
export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
}

const spare = 300;

/**
 * Delivers an answer: tries again on network errors, 408, 429 and 5xx, with random delays that grow from 100 ms to
 * 5 s; once on any other status but 2xx. Ends 300 ms before the process does. Returns the number of attempts; throws a
 * `DeliveryError` whose text holds neither path nor signature.
 */
export async function deliver(url: string, body: Uint8Array, options: DeliveryOptions): Promise<number> {
  let refusals = 0;
  for (let attempt = 1; ; attempt++) {
    const { status, problem } = await tryOnce(url, body, options);
    if (status >= 200 && status < 300) return attempt;
    options.onFailure?.(attempt, problem);
    const isTransient = status === 0 || status === 408 || status === 429 || status >= 500;
    if (!isTransient) refusals++;
    const delay = Math.random() * Math.min(5000, 100 * 2 ** (attempt - 1));
    if (refusals > 1 || options.remaining() - spare <= delay) {
      throw new DeliveryError(`${url.split("/")[2] ?? ""}: ${problem} (attempt ${attempt})`);
    }
    await options.clock.sleep(delay);
  }
}

/** How one PUT ended. Status 0: there was no response. */
interface Attempt {
  readonly status: number;
  readonly problem: string;
}

async function tryOnce(url: string, body: Uint8Array, options: DeliveryOptions): Promise<Attempt> {
  // With little time left an attempt takes 60 % of it, so that there is a second one.
  const time = Math.max(200, (options.remaining() - spare) * 0.6);
  try {
    const allowed = { connect: Math.min(3000, time), total: Math.min(5000, time) };
    const { status, body: text } = await options.transport(url, body, allowed);
    const code = /<Code>(\w+)/u.exec(text)?.[1] ?? "";
    return { status, problem: `HTTP ${status} ${code}` };
  } catch (error) {
    // A function in a VPC needs an S3 gateway endpoint or a NAT gateway.
    return { status: 0, problem: `${(error as Error).message} (no route to S3?)` };
  }
}

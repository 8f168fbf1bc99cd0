/** Time, as the SDK sees it. `custard/testing` passes a virtual one. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `delay` ms; rejects when aborted. */
  sleep(delay: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (delay, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = setTimeout(resolve, delay);
      signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)));
    }),
};

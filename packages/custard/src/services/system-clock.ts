import type { Clock } from "../engine/ports.ts";

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep(delay, signal) {
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, delay);
      if (signal?.aborted === true) stop();
      else signal?.addEventListener("abort", stop, { once: true });
    });
  },
};

import type { Clock } from "../../packages/custard/src/engine/ports.ts";

interface Timer {
  readonly at: number;
  readonly ring: () => void;
}

/** The world's time. It goes on only when told to, from one timer to the next. */
export class SimClock {
  #now = Date.UTC(2026, 0, 1);
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  /** Something in the world outside the engine happens later. */
  after(delay: number, ring: () => void): void {
    this.#timers.add({ at: this.#now + delay, ring });
  }

  /** Goes on to the next timer. False when there is none. */
  step(): boolean {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (next === undefined || timer.at < next.at) next = timer;
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#now = Math.max(this.#now, next.at);
    next.ring();
    return true;
  }

  /** The clock of one process: when the process dies, its sleepers neither wake nor fail. */
  forProcess(): Clock & { die(): void } {
    const own = new Set<Timer>();
    let alive = true;
    return {
      now: () => this.#now,
      sleep: (delay, signal) =>
        new Promise((resolve, reject) => {
          if (!alive) return;
          const timer = { at: this.#now + Math.max(0, delay), ring: () => end(resolve) };
          const abort = () => end(() => reject(signal?.reason));
          const end = (settle: () => void) => {
            own.delete(timer);
            this.#timers.delete(timer);
            signal?.removeEventListener("abort", abort);
            settle();
          };
          if (signal?.aborted === true) return abort();
          signal?.addEventListener("abort", abort);
          own.add(timer);
          this.#timers.add(timer);
        }),
      die: () => {
        alive = false;
        for (const timer of own) this.#timers.delete(timer);
      },
    };
  }
}

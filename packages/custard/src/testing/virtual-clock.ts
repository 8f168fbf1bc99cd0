import type { Clock } from "../engine/ports.ts";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is told to go on: an hour of waiting passes in no time. */
export class VirtualClock implements Clock {
  #now: number;
  readonly #sleepers = new Set<Sleeper>();

  /** `start`: ms since the epoch. */
  constructor(start: number = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  sleep(delay: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
      };
      const sleeper: Sleeper = {
        at: this.#now + Math.max(0, delay),
        wake: () => {
          signal?.removeEventListener("abort", abort);
          resolve();
        },
      };
      if (signal?.aborted === true) {
        abort();
        return;
      }
      signal?.addEventListener("abort", abort, { once: true });
      this.#sleepers.add(sleeper);
    });
  }

  /** Goes on by `delay` ms, waking everybody whose time has come, in order. */
  advance(delay: number): void {
    const until = this.#now + delay;
    for (let next = this.#earliest(); next !== undefined && next.at <= until; next = this.#earliest())
      this.#wake(next);
    this.#now = until;
  }

  /** Goes on to the moment for which the next sleeper waits. False when nobody sleeps. */
  advanceToNext(): boolean {
    const next = this.#earliest();
    if (next === undefined) return false;
    this.#wake(next);
    return true;
  }

  #wake(sleeper: Sleeper): void {
    this.#now = Math.max(this.#now, sleeper.at);
    this.#sleepers.delete(sleeper);
    sleeper.wake();
  }

  #earliest(): Sleeper | undefined {
    let earliest: Sleeper | undefined;
    for (const sleeper of this.#sleepers)
      if (earliest === undefined || sleeper.at < earliest.at) earliest = sleeper;
    return earliest;
  }
}

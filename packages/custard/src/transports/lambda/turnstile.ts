/** Lets at most `width` holders through at once, in the order in which they came. */
export class Turnstile {
  readonly #width: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /** Runs `act` when its turn comes. */
  async pass<Result>(act: () => Promise<Result>): Promise<Result> {
    if (this.#inside >= this.#width) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inside += 1;
    try {
      return await act();
    } finally {
      // The place goes straight to the next in line.
      const next = this.#waiting.shift();
      if (next === undefined) this.#inside -= 1;
      else next();
    }
  }
}

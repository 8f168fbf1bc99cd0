/** One at a time for each key: who comes while another works on the same key waits for its turn. */
export class KeyedTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `act` after all that came before it with this key, whatever became of them. */
  async run<Result>(key: string, act: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const turn = before.then(act, act);
    this.#last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    }
  }
}

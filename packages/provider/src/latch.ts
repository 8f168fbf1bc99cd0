/** A promise that can be settled from outside, once and for all: the first value wins, as with any promise. */
export interface Latch<T> {
  readonly settled: Promise<T>;
  readonly settle: (value: T) => void;
}

/** An open latch. */
export function latch<T>(): Latch<T> {
  let settle: (value: T) => void = () => undefined;
  const settled = new Promise<T>((resolve) => (settle = resolve));
  return { settled, settle };
}

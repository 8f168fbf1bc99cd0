/**
 * What holds for an operation on a stack depends on who asked for it: a person at the command line wants to hear at
 * once that a provider is silent, a client of AWS's expects AWS's own pace.
 *
 * Invariants
 * OS1: other settings than the usual ones hold from before an operation begins until it has ended.
 * OS2: what holds for a stack holds for the stacks nested in it.
 */

/** What holds for one operation. */
export interface OperationSettings {
  /** Fail a request at once whose provider has certainly ended without answering. */
  readonly failFast: boolean;
  /** Refuse resources that nothing stands behind. */
  readonly strict: boolean;
  /** Milliseconds before a failed function's second and third attempt. */
  readonly retryDelays: readonly number[];
  /** Factor on SNS's delays before it tries an HTTP endpoint again. */
  readonly snsRetryScale: number;
}

/** What a person means that says nothing else. */
export const briskSettings: OperationSettings = {
  failFast: true,
  strict: false,
  retryDelays: [1000, 2000],
  snsRetryScale: 0.05,
};

/** A stack by its place and name: what is known of it before it exists. */
export interface StackPlace {
  readonly account: string;
  readonly region: string;
  readonly stackName: string;
}

/** The settings in force. */
export class SettingsInForce {
  readonly #usual: OperationSettings;
  readonly #rootOf: (stackId: string) => Promise<string | undefined>;
  /** By stack; the last that were put in force hold. */
  readonly #others = new Map<string, readonly OperationSettings[]>();

  /** `rootOf` tells the outermost stack of a nested one. */
  constructor(usual: OperationSettings, rootOf: (stackId: string) => Promise<string | undefined>) {
    this.#usual = usual;
    this.#rootOf = rootOf;
  }

  /** What holds for a stack, by its id. */
  async of(stackId: string): Promise<OperationSettings> {
    if (this.#others.size === 0) return this.#usual;
    const own = this.#others.get(keyOfId(stackId))?.at(-1);
    if (own !== undefined) return own;
    const root = await this.#rootOf(stackId);
    return (root === undefined ? undefined : this.#others.get(keyOfId(root))?.at(-1)) ?? this.#usual;
  }

  /** OS1. Returns the act of putting them out of force. */
  put(place: StackPlace, settings: OperationSettings): () => void {
    const key = keyOf(place);
    const own = { ...settings };
    this.#others.set(key, [...(this.#others.get(key) ?? []), own]);
    return () => {
      const left = (this.#others.get(key) ?? []).filter((each) => each !== own);
      if (left.length === 0) this.#others.delete(key);
      else this.#others.set(key, left);
    };
  }
}

function keyOf({ account, region, stackName }: StackPlace): string {
  return `${region}:${account}:${stackName}`;
}

/** Of `arn:PARTITION:cloudformation:REGION:ACCOUNT:stack/NAME/ID`. */
function keyOfId(stackId: string): string {
  const [, , , region = "", account = "", resource = ""] = stackId.split(":");
  return keyOf({ account, region, stackName: resource.split("/")[1] ?? "" });
}

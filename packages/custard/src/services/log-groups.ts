/** Log groups: what `AWS::Logs::LogGroup` and the endpoint make. What is in them stands in `logs.ts`. */
import type { Json } from "@custard/provider/protocol";
import type { Documents } from "../engine/ports.ts";
import { KeyedTurns } from "./keyed-turns.ts";

/** CloudWatch Logs' own error codes; all of them come with status 400. */
export type LogErrorCode =
  | "InvalidParameterException"
  | "ResourceAlreadyExistsException"
  | "ResourceNotFoundException";

/** A refusal in the words of CloudWatch Logs. */
export class LogError extends Error {
  override readonly name = "LogError";
  readonly code: LogErrorCode;

  constructor(code: LogErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Where log groups live. */
export interface LogScope {
  readonly partition: string;
  readonly account: string;
  readonly region: string;
}

/** A log group as kept. */
export interface LogGroup {
  readonly name: string;
  readonly createdAt: number;
  /** Days; kept as a record: nothing is deleted for its age. */
  readonly retentionDays?: number;
  readonly keyId?: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly token: string;
}

/** What of a group can change. */
export type LogGroupSettings = Partial<Pick<LogGroup, "retentionDays" | "keyId" | "tags">>;

/** The periods that CloudWatch Logs knows. */
const periods = new Set([
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
]);

/** Groups in `Documents`, under `log-group/<partition>/<account>/<region>/<name>`. Throws `LogError`. */
export class LogGroups {
  readonly #documents: Documents;
  readonly #now: () => number;
  readonly #turns = new KeyedTurns();

  constructor(documents: Documents, now: () => number = Date.now) {
    this.#documents = documents;
    this.#now = now;
  }

  async create(
    scope: LogScope,
    input: LogGroupSettings & { readonly name: string; readonly token?: string },
  ): Promise<LogGroup> {
    const { name, token = "", ...settings } = input;
    checkName(name);
    checkPeriod(settings.retentionDays);
    return await this.#turns.run(keyOf(scope, name), async () => {
      const before = await this.find(scope, name);
      if (before !== undefined && token !== "" && before.token === token) return before;
      if (before !== undefined)
        throw new LogError("ResourceAlreadyExistsException", "The specified log group already exists");
      return await this.#save(scope, { tags: {}, ...settings, name, createdAt: this.#now(), token });
    });
  }

  /** Replaces all settings of a group. */
  async update(scope: LogScope, name: string, settings: LogGroupSettings): Promise<LogGroup> {
    checkPeriod(settings.retentionDays);
    return await this.#turns.run(keyOf(scope, name), async () => {
      const { createdAt, token } = await this.get(scope, name);
      return await this.#save(scope, { tags: {}, ...settings, name, createdAt, token });
    });
  }

  async find(scope: LogScope, name: string): Promise<LogGroup | undefined> {
    const value = await this.#documents.get(keyOf(scope, name));
    return value === undefined ? undefined : parse(value);
  }

  async get(scope: LogScope, name: string): Promise<LogGroup> {
    const group = await this.find(scope, name);
    if (group !== undefined) return group;
    throw new LogError("ResourceNotFoundException", "The specified log group does not exist.");
  }

  /** Groups whose names start with a prefix, by name. */
  async list(scope: LogScope, prefix = ""): Promise<readonly LogGroup[]> {
    return (await this.#documents.list(keyOf(scope, prefix))).map(({ value }) => parse(value));
  }

  async delete(scope: LogScope, name: string): Promise<void> {
    await this.get(scope, name);
    await this.#documents.delete(keyOf(scope, name));
  }

  async #save(scope: LogScope, group: LogGroup): Promise<LogGroup> {
    await this.#documents.put(keyOf(scope, group.name), JSON.parse(JSON.stringify(group)) as Json);
    return group;
  }
}

function checkName(name: string): void {
  if (/^[.\-_/#A-Za-z0-9]{1,512}$/.test(name)) return;
  throw new LogError(
    "InvalidParameterException",
    String.raw`1 validation error detected: Value '${name}' at 'logGroupName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\.\-_/#A-Za-z0-9]+`,
  );
}

function checkPeriod(days: number | undefined): void {
  if (days === undefined || periods.has(days)) return;
  throw new LogError(
    "InvalidParameterException",
    `1 validation error detected: Value '${days}' at 'retentionInDays' failed to satisfy constraint: Member must satisfy enum value set: [${[...periods].join(", ")}]`,
  );
}

function keyOf({ partition, account, region }: LogScope, name: string): string {
  return `log-group/${partition}/${account}/${region}/${name}`;
}

/** Our own storage: only the outline is checked. */
function parse(value: Json): LogGroup {
  if (typeof value !== "object" || value === null || !("name" in value) || !("createdAt" in value))
    throw new Error("A stored log group is damaged.");
  return value as unknown as LogGroup;
}

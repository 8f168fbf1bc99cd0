/** One row of a behaviour matrix: real code, and what becomes of two invocations in a row. */
import type { Json } from "@custard/provider/protocol";
import type { CodeInput } from "../../packages/custard/src/services/function-record.ts";
import type { FunctionSettings } from "../../packages/custard/src/services/function-settings.ts";
import type { TestLambda } from "./support.ts";

/** What an invocation is expected to give: a result, or an error report. */
export type Expected =
  | { readonly result: Json }
  | { readonly errorType: string; readonly errorMessage: string };

export interface Row {
  readonly title: string;
  readonly code: string | CodeInput;
  readonly settings?: Partial<FunctionSettings>;
  readonly first: Expected;
  /** Default: the same. */
  readonly second?: Expected;
}

/** What was seen. */
export interface Seen {
  readonly outcomes: readonly Record<string, unknown>[];
  readonly instances: number;
  readonly logs: readonly (readonly string[])[];
}

let counter = 0;

/** Runs a row. */
export async function runRow(lambda: TestLambda, row: Omit<Row, "first">): Promise<Seen> {
  counter += 1;
  const name = `row-${counter}`;
  await lambda.create(name, row.code, { timeoutSeconds: 5, ...row.settings });
  const outcomes: Record<string, unknown>[] = [];
  const logs: (readonly string[])[] = [];
  let instances = 0;
  for (let turn = 0; turn < 2; turn += 1) {
    const ran = await lambda.run(name, { turn });
    const payload: unknown = JSON.parse(Buffer.from(ran.payload).toString("utf8"));
    outcomes.push(ran.functionError === undefined ? { result: payload } : outlineOf(payload));
    logs.push(ran.log);
    instances += ran.log.filter((line) => line.startsWith("INIT_START")).length;
  }
  return { outcomes, instances, logs };
}

function outlineOf(payload: unknown): Record<string, unknown> {
  if (typeof payload !== "object" || payload === null) return { payload };
  const { errorType, errorMessage } = { errorType: undefined, errorMessage: undefined, ...payload };
  return {
    errorType,
    errorMessage: String(errorMessage).replace(/RequestId: [0-9a-f-]{36}/, "RequestId: ID"),
  };
}

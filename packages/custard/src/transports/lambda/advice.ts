/** One sentence about a request that a function certainly leaves unanswered: what happened and what to do. */
import type { TraceEntry } from "../../engine/ports.ts";
import type { ResolvedFunction } from "../../services/function-record.ts";
import { ownPath, placeOfError } from "./error-place.ts";
import type { Attempt } from "./invoke.ts";
import { loadAdvice, missingModule } from "./load-advice.ts";

/** What is known of the request. */
export interface Silence {
  readonly resolved: ResolvedFunction;
  /** At least one. */
  readonly attempts: readonly Attempt[];
  readonly trace: readonly TraceEntry[];
}

/** The advice. */
export function adviceOn(silence: Silence): string {
  const last = silence.attempts.at(-1);
  if (last === undefined) throw new Error("A silent request had no attempt");
  const put = silence.trace.findLast((entry) => entry.kind === "put");
  const name = `Function ${silence.resolved.reference.name}`;
  return put === undefined ? `${name} ${whatHappened(last, silence)}` : `${name} ${whatArrived(put.text)}`;
}

/** The endpoint's own words name the cause and the remedy. */
function whatArrived(put: string): string {
  const ignored = /: 200, ignored: (.*)$/s.exec(put)?.[1];
  if (ignored !== undefined) return `answered, but CloudFormation passed over it: ${ignored}.`;
  if (/: 200\b/.test(put)) return "answered, but CloudFormation didn't take it as an answer to this request.";
  const refused = /^\S+: (\d+ \w+), (.*)$/s.exec(put);
  if (refused === null) return `tried to answer, but its answer didn't arrive: ${put}.`;
  return `tried to answer, but S3 refused it (${refused[1]}): ${refused[2]}.`;
}

function whatHappened(last: Attempt, { resolved, attempts, trace }: Silence): string {
  const times = attempts.length > 1 ? ` (${attempts.length} attempts)` : "";
  const { timeoutSeconds, memoryMegabytes } = resolved.settings;
  const tooLarge = `used more than its MemorySize of ${memoryMegabytes} MB and was stopped before it answered${times}: raise MemorySize (at most 10240 MB), or find what fills it.`;
  switch (last.ending) {
    case "returned":
      return "returned without answering: send the response to the ResponseURL and wait until it is sent before the handler returns.";
    case "failed":
      return `failed before it answered${times}: ${faultText(last, { resolved, trace })}. ${missingModule(last.fault?.errorMessage ?? "", resolved) ?? "Catch errors in the handler and answer FAILED with the reason."}`;
    case "timed-out":
      return `was stopped by its Timeout of ${timeoutSeconds} s before it answered${times}: raise Timeout (at most 900 s), or find what it waits for.`;
    case "out-of-memory":
      return tooLarge;
    case "exited":
      return ranOutOfHeap(trace) ? tooLarge : `${exitText(last, resolved)}${times}: ${exitAdvice(last)}`;
    case "init-failed":
      return `couldn't be loaded${times}: ${faultText(last, { resolved, trace })}. ${loadAdvice(last.fault, resolved)}`;
  }
}

/** Node.js ends itself when its heap is full, and says so. */
function ranOutOfHeap(trace: readonly TraceEntry[]): boolean {
  return trace.some(({ kind, text }) => kind === "log" && /\bheap out of memory\b/.test(text));
}

function exitText(last: Attempt, resolved: ResolvedFunction): string {
  const how = /Runtime exited with error: (.*)$/.exec(last.fault?.errorMessage ?? "")?.[1] ?? "exit status 0";
  // A custom runtime that can't be started ends in its first event, so to say.
  if (resolved.settings.runtime.startsWith("provided"))
    return `ended its bootstrap (${how}) before it answered`;
  return `ended its process (${how}) before it answered`;
}

function exitAdvice({ fault }: Attempt): string {
  if (/signal: /.test(fault?.errorMessage ?? ""))
    return "it crashed in native code, or was killed; its log lines may tell why.";
  return "answer first, and return from the handler instead of ending the process (process.exit, sys.exit).";
}

function faultText({ fault }: Attempt, { resolved, trace }: Omit<Silence, "attempts">): string {
  if (fault === undefined) return "for no known reason";
  const [line = ""] = fault.errorMessage.split("\n");
  const message = line
    .replace(/^RequestId: \S+ Error: /, "")
    .replace(/ \([^()]+\.py, line \d+\)$/, "")
    .replace(
      /( imported from )(\/.*)$/,
      (_all, head: string, file: string) => `${head}${ownPath(file, resolved.code) ?? file}`,
    );
  // Lambda's own types only say what the text after them says better.
  const isOwnText = /^Runtime\.(?:UserCodeSyntaxError|ImportModuleError|UnhandledPromiseRejection)$/;
  const text = isOwnText.test(fault.errorType) ? message : `${fault.errorType}: ${message}`;
  const place = placeOfError(fault.payload, resolved.code) ?? placeOfRejection(trace, resolved);
  return `${text.replace(/[.:\s]+$/, "")}${place === undefined ? "" : ` at ${place}`}`;
}

/** The report of a rejection that nobody handled tells only where that was found out; the log tells more. */
function placeOfRejection(trace: readonly TraceEntry[], { code }: ResolvedFunction): string | undefined {
  const logged = trace.findLast(
    ({ kind, text }) => kind === "log" && /\tUnhandled Promise Rejection /.test(text),
  );
  const [, json = ""] = /"reason":(\{.*\}),"promise"/s.exec(logged?.text ?? "") ?? [];
  return placeOfError(Buffer.from(json.replace(/"stack":(?=\[)/, '"trace":')), code);
}

/** One sentence about a request that a function certainly leaves unanswered: what happened and what to do. */
import type { TraceEntry } from "../../engine/ports.ts";
import type { ResolvedFunction } from "../../services/function-record.ts";
import type { Attempt } from "./invoke.ts";

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
  if (put === undefined) return `${name} ${whatHappened(last, silence)}`;
  // S3 takes any body; CloudFormation passes over those that name another request.
  if (/: 200\b/.test(put.text)) {
    return `${name} answered another request: StackId, RequestId and LogicalResourceId of the response must be those of the event.`;
  }
  return `${name} tried to answer, but its answer didn't arrive (${put.text}).`;
}

function whatHappened(last: Attempt, { resolved, attempts }: Silence): string {
  const times = attempts.length > 1 ? ` (${attempts.length} attempts)` : "";
  const { timeoutSeconds, memoryMegabytes } = resolved.settings;
  switch (last.ending) {
    case "returned":
      return "returned without answering: send the response to the ResponseURL and wait until it is sent before the handler returns.";
    case "failed":
      return `failed before it answered${times}: ${faultText(last)}. Catch errors in the handler and answer FAILED with the reason.`;
    case "timed-out":
      return `was stopped by its Timeout of ${timeoutSeconds} s before it answered${times}: raise Timeout (at most 900 s), or find what it waits for.`;
    case "out-of-memory":
      return `used more than its MemorySize of ${memoryMegabytes} MB and was stopped before it answered${times}: raise MemorySize (at most 10240 MB).`;
    case "exited":
      return `ended its process before it answered${times}: ${faultText(last)}.`;
    case "init-failed":
      return `couldn't be loaded${times}: ${faultText(last)}.${loadHint(last, resolved)}`;
  }
}

function faultText({ fault }: Attempt): string {
  if (fault === undefined) return "for no known reason";
  const [line = ""] = fault.errorMessage.split("\n");
  const message = line.replace(/^RequestId: \S+ Error: /, "");
  return `${fault.errorType}: ${message}`.replace(/[.:\s]+$/, "");
}

/** What gets a missing module, or a missing handler, in place. */
function loadHint({ fault }: Attempt, resolved: ResolvedFunction): string {
  const message = fault?.errorMessage ?? "";
  const python = /No module named '([^'.]+)/.exec(message)?.[1];
  if (python !== undefined) {
    return ` Put ${python} beside the function's code (pip install -t DIR ${python}) or into the machine's python3 (pip install ${python}).`;
  }
  const node = /Cannot find (?:module|package) '((?:@[^/']+\/)?[^./'][^/']*)/.exec(message)?.[1];
  if (node !== undefined && node !== resolved.settings.handler.split(".")[0]) {
    return ` Put it beside the function's code or into your project: npm install ${node}.`;
  }
  return "";
}

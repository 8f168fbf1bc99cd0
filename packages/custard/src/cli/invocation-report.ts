import type { ProviderResponse } from "@custard/provider/protocol";
import type { TraceEntry } from "../engine/ports.ts";
import type { EndedRequest, SingleOutcome } from "../services/single-requests.ts";
import { formatTime } from "./event-line.ts";
import { type Colors, colorsOf, type Io } from "./io.ts";
import { printable, printableLines } from "./printable.ts";

/** A request that has ended, as one JSON document. */
export function invocationJson(ended: EndedRequest): object {
  const { request, outcome, trace, tookMs } = ended;
  const { requestType, requestId, resourceType } = request;
  return {
    requestType,
    requestId,
    resourceType,
    ...outcomeJson(outcome),
    ...(adviceOf(ended) === undefined ? {} : { advice: adviceOf(ended) }),
    took: tookMs,
    trace: trace.map((entry) => ({
      at: new Date(entry.at).toISOString(),
      kind: entry.kind,
      text: entry.text,
    })),
  };
}

/** The same for people: the trace, then what became of the request. */
export function formatInvocation(ended: EndedRequest, io: Io): string {
  const colors = colorsOf(io.stdout);
  const advice = adviceOf(ended);
  const lines = [
    ...ended.trace.filter(({ kind }) => kind !== "advice").flatMap((entry) => formatEntry(entry, colors)),
    "",
    ...formatOutcome(ended, colors),
    ...(advice === undefined ? [] : [`  ${colors.bold("What to do:")} ${printable(advice)}`]),
    "",
  ];
  return lines.join("\n");
}

function outcomeJson(outcome: SingleOutcome): object {
  switch (outcome.kind) {
    case "answered":
      return outcome.verdict.kind === "answer"
        ? { outcome: "answered", response: responseJson(outcome.verdict.response) }
        : { outcome: "malformed", reason: outcome.verdict.reason };
    case "refused":
      return { outcome: "refused", reason: outcome.reason };
    case "silent":
    case "timed-out":
      return { outcome: outcome.kind };
  }
}

/** Values of an answer with NoEcho are shown to nobody. */
function responseJson(response: ProviderResponse): object {
  if (response.status === "FAILED" || !response.noEcho) return response;
  return { ...response, data: Object.fromEntries(Object.keys(response.data).map((name) => [name, "*****"])) };
}

function formatOutcome({ request, outcome, tookMs }: EndedRequest, colors: Colors): readonly string[] {
  const act = `${request.requestType} of ${request.resourceType}`;
  switch (outcome.kind) {
    case "answered":
      return outcome.verdict.kind === "answer"
        ? formatResponse(`${act} after ${Math.round(tookMs)} ms`, outcome.verdict.response, colors)
        : [`${colors.red("✗")} ${act}: ${printable(outcome.verdict.reason)}`];
    case "refused":
      return [`${colors.red("✗")} ${act} was refused: ${printable(outcome.reason)}`];
    case "silent":
      return [`${colors.red("✗")} ${act} stays without an answer`];
    case "timed-out":
      return [`${colors.red("✗")} ${act} got no answer in time`];
  }
}

function formatResponse(act: string, response: ProviderResponse, colors: Colors): readonly string[] {
  if (response.status === "FAILED")
    return [`${colors.red("✗")} FAILED: ${act}`, `  Reason: ${printable(response.reason)}`, idLine(response)];
  const shown = response.noEcho ? "***** (NoEcho)" : undefined;
  const data = Object.entries(response.data).map(
    ([name, value]) =>
      `  ${printable(name)} = ${printable(shown ?? (typeof value === "string" ? value : JSON.stringify(value)))}`,
  );
  return [`${colors.green("✓")} SUCCESS: ${act}`, idLine(response), ...data];
}

function idLine({ physicalId }: ProviderResponse): string {
  return `  PhysicalResourceId: ${printable(physicalId)}`;
}

function adviceOf({ outcome, trace }: EndedRequest): string | undefined {
  if (outcome.kind === "silent") return outcome.advice;
  if (outcome.kind === "timed-out") return trace.findLast(({ kind }) => kind === "advice")?.text;
  return undefined;
}

const kindWidth = "delivered".length;

function formatEntry(entry: TraceEntry, colors: Colors): readonly string[] {
  const head = `${colors.dim(formatTime(entry.at))}  ${entry.kind.padEnd(kindWidth)}  `;
  return printableLines(entry.text).map((line) => `${head}${line}`);
}

import type { TraceEntry } from "../engine/ports.ts";
import type { StackEvent, StackView } from "../engine/views.ts";

/** A resource that failed, and what was seen of its last request. */
export interface Failed {
  readonly event: Pick<StackEvent, "status" | "at">;
  readonly reason: string;
  readonly trace: readonly TraceEntry[];
  /** The stack afterwards. */
  readonly stack: StackView;
}

interface Rule {
  readonly reason: RegExp;
  readonly status?: string;
  readonly advice: string | ((failed: Failed) => string);
}

const rules: readonly Rule[] = [
  {
    reason: /^Received response status \[FAILED\]/,
    advice: (failed) =>
      `${providerOf(failed)} answered FAILED itself: look for the cause in its message and log lines.`,
  },
  { reason: /^CloudFormation did not receive a response/, advice: adviceOnTime },
  { reason: /^Response object is too long/, advice: adviceOnLength },
  { reason: /^Invalid Response object/, advice: adviceOnBody },
  {
    reason: /^Invalid PhysicalResourceId/,
    advice: (failed) =>
      `Every response of ${inSentence(providerOf(failed))}, FAILED ones too, needs a PhysicalResourceId of 1 to 1024 bytes.${hiddenReason(failed)}`,
  },
  { reason: /Vendor response doesn't contain/, advice: adviceOnAttribute },
  {
    reason: /^No export named /,
    advice:
      "Deploy the stack that has the export first, into the same state directory (--state), region and account.",
  },
  {
    reason: /^No transform named /,
    advice:
      "Deploy the stack that has the macro (AWS::CloudFormation::Macro) first, into the same state directory (--state), region and account.",
  },
  {
    reason: /^Topic does not exist/,
    status: "DELETE_FAILED",
    advice:
      "Its topic is gone, so nobody can answer: delete with --retain and the resource's logical id to give it up.",
  },
  {
    reason: /^Topic does not exist/,
    advice:
      "ServiceToken names a topic that does not exist: compare it with the topics of your stacks, their region and account.",
  },
  {
    reason: /^Modifying service token is not allowed/,
    advice:
      "Put the old ServiceToken back, or give the resource a new logical id so that it is created anew.",
  },
  {
    reason: /Function not found/,
    status: "DELETE_FAILED",
    advice:
      "Its function is gone, so nobody can answer: delete with --retain and the resource's logical id to give it up.",
  },
  {
    reason: /Function not found/,
    advice:
      "ServiceToken names a function that does not exist: compare it with the functions of your stacks.",
  },
  {
    reason: /^Functions from '[^']*' are not reachable in this region/,
    advice: "ServiceToken must name a function in the stack's own region.",
  },
  { reason: /ServiceTimeout/, advice: "ServiceTimeout is a whole number of seconds from 1 to 3600." },
];

const deployAgain = "Put right what the reason names, then deploy again.";
const deleteAgain =
  "Put right what the reason names, then delete the stack again; --retain with the resource's logical id gives it up.";

/** One sentence on what to do about a failed resource when its trace holds no advice. */
export function adviceFor(failed: Failed): string {
  const { reason, event } = failed;
  const found = rules.find(
    (rule) => rule.reason.test(reason) && (rule.status ?? event.status) === event.status,
  );
  const advice = found?.advice ?? (event.status === "DELETE_FAILED" ? deleteAgain : deployAgain);
  return typeof advice === "string" ? advice : advice(failed);
}

function providerOf({ trace }: Failed): string {
  const name = trace.find((entry) => entry.functionName !== undefined)?.functionName;
  return name === undefined ? "The provider" : `Function ${name}`;
}

function inSentence(name: string): string {
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
}

function adviceOnTime(subject: Failed): string {
  const { trace, event } = subject;
  const name = providerOf(subject);
  const late = trace.find(
    ({ kind, text, at }) => kind === "put" && at >= event.at && / of .*: 200\b/.test(text),
  );
  if (late !== undefined)
    return `${name} answered ${seconds(late.at - event.at)} after its ServiceTimeout had passed: raise ServiceTimeout (at most 3600 s), or answer sooner.`;
  const soFar = trace.filter(({ at }) => at < event.at);
  const failed = soFar.findLast(({ kind }) => kind === "failed");
  if (failed !== undefined) return `${name} ${failureBeforeTime(failed.text)}`;
  const returned = soFar.some(({ kind }) => kind === "returned");
  if (!returned && trace.some(({ kind }) => kind === "invoked"))
    return `${name} was still at work when its ServiceTimeout passed: raise ServiceTimeout (at most 3600 s), or answer sooner.`;
  return `${name} never answered: make sure that every path through it, errors too, sends a response and waits until it is sent.`;
}

/** An attempt failed, and ServiceTimeout passed before Lambda had made the others. */
function failureBeforeTime(text: string): string {
  const passed = "and its ServiceTimeout passed before the last of Lambda's attempts";
  const limit = /Task timed out after ([\d.]+) seconds/.exec(text)?.[1];
  if (limit !== undefined)
    return `was stopped by its Timeout of ${Number(limit)} s before it answered, ${passed}: raise Timeout (at most 900 s), or find what it waits for.`;
  const [fault = ""] = text.replace(/RequestId: \S+ Error: /, "").split("\n");
  return `failed before it answered, ${passed}: ${fault.replace(/[.:\s]+$/, "")}. Catch errors in the handler and answer FAILED with the reason.`;
}

function adviceOnAttribute({ reason, stack, event }: Failed): string {
  const [, name = "", id] = /contain (.+) attribute in object [^|]*\|([^|]*)\|/.exec(reason) ?? [];
  const attributes = stack.resources.find(({ logicalId }) => logicalId === id)?.attributes;
  if (attributes === undefined)
    return "Fn::GetAtt asks for an attribute that the provider's last answer does not have in its Data: compare the two names.";
  if (Object.hasOwn(attributes, name))
    return `Before this update ${id} had ${name}: an answer to Update needs the same Data as one to Create, since it takes its place.`;
  const [top = ""] = name.split(".", 1);
  if (top !== name && Object.hasOwn(attributes, top))
    return `${top} is in the Data of ${id}, but only the names at the top of Data are attributes: put "${name}" there as a name of its own.`;
  const names = Object.keys(attributes);
  const has = names.length === 0 ? "is empty" : `has only ${names.join(", ")}`;
  const when = event.status.startsWith("UPDATE") ? " by now" : "";
  return `The Data of ${id} ${has}${when}: compare the names, also their upper and lower case.`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function adviceOnLength(failed: Failed): string {
  const size = /^PUT of (\d+) bytes/.exec(lastPut(failed))?.[1];
  const sent = size === undefined ? "too much" : `${size} bytes`;
  return `${providerOf(failed)} answered with ${sent}, but CloudFormation reads at most 4096: put less into Data or Reason.`;
}

function adviceOnBody(failed: Failed): string {
  const name = providerOf(failed);
  const put = lastPut(failed);
  const short = /content-length is (\d+ bytes?) short/.exec(put)?.[1];
  if (short !== undefined)
    return `${name} gave a content-length that is ${short} short, so that S3 cut its answer off: count the bytes of the body (Buffer.byteLength(body), len(body.encode())), not its characters.`;
  const fault = failed.reason.replace(/^Invalid Response object: /, "");
  const size = /^PUT of (\d+ bytes?)/.exec(put)?.[1];
  return `${name} sent a body${size === undefined ? "" : ` of ${size}`} that is no response (${fault}): send a JSON object with Status, PhysicalResourceId, StackId, RequestId and LogicalResourceId.`;
}

/** What the provider itself said of its failure. */
function hiddenReason(failed: Failed): string {
  const reason = / hides the Reason "(.*)"$/s.exec(lastPut(failed))?.[1];
  return reason === undefined ? "" : ` What it wanted to say: ${reason}`;
}

function lastPut({ trace }: Failed): string {
  return trace.findLast(({ kind, text }) => kind === "put" && !/, ignored: /.test(text))?.text ?? "";
}

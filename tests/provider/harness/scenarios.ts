import type { PutFault } from "./endpoint.ts";

/** One thing that happens to a provider, and what has to reach the response URL. */
export interface Scenario {
  readonly name: string;
  /** What the author's code does; see `behaviours.mjs`. */
  readonly behaviour: string;
  readonly request?: "Create" | "Update" | "Delete" | "Read";
  readonly faults?: readonly PutFault[];
  readonly repeat?: boolean;
  /** Milliseconds that the function has. */
  readonly limit?: number;
  readonly partition?: "aws" | "aws-us-gov";
  readonly envelope?: "sns";
  readonly node24?: boolean;
  /** `undefined`: nothing has to be taken, but the invocation must have failed. */
  readonly expected: Expected | undefined;
}

/** What the answer has to be. */
export interface Expected {
  readonly status: "SUCCESS" | "FAILED";
  /** The exact id, or a form of it. */
  readonly id?: string | RegExp;
  readonly reason?: RegExp;
  readonly data?: Readonly<Record<string, string>>;
}

const failed = { status: "FAILED" } as const;
const created = { status: "SUCCESS", id: "thing-1", data: { A: "1" } } as const;
const tombstone = /^never-created:/u;

/** The 23 scenarios against which the libraries were measured, and some more. */
export const scenarios: readonly Scenario[] = [
  { name: "happy create", behaviour: "happy", expected: created },
  {
    name: "data beyond ASCII",
    behaviour: "unicode",
    expected: { status: "SUCCESS", data: { Text: "ü 日本 🚀" } },
  },
  {
    name: "the handler throws",
    behaviour: "throw",
    expected: { ...failed, reason: /the quota is used up/u },
  },
  {
    name: "it throws on Update: the id is kept",
    behaviour: "throw",
    request: "Update",
    expected: { ...failed, id: "thing-1", reason: /the quota is used up/u },
  },
  {
    name: "an error message of 10 KB",
    behaviour: "throwbig",
    expected: { ...failed, reason: /^ü+ … ü+ the end/u },
  },
  {
    name: "it hangs past the time limit",
    behaviour: "hang",
    limit: 3000,
    expected: { ...failed, id: tombstone },
  },
  {
    name: "a throw in a timer",
    behaviour: "detached",
    expected: { ...failed, reason: /thrown in a timer/u },
  },
  {
    name: "a rejection that nobody handles",
    behaviour: "rejection",
    expected: { ...failed, reason: /nobody listens/u },
  },
  {
    name: "loading the code fails",
    behaviour: "init",
    expected: { ...failed, reason: /variable is missing/u },
  },
  { name: "500 once", behaviour: "happy", faults: [500], expected: created },
  { name: "503 three times", behaviour: "happy", faults: [503, 503, 503], expected: created },
  { name: "the connection is reset once", behaviour: "happy", faults: ["reset"], expected: created },
  { name: "403 always", behaviour: "happy", faults: [403], repeat: true, limit: 6000, expected: undefined },
  {
    name: "a redirect elsewhere",
    behaviour: "happy",
    faults: [307],
    repeat: true,
    limit: 6000,
    expected: undefined,
  },
  {
    name: "the server never answers once",
    behaviour: "happy",
    faults: ["silence"],
    limit: 4000,
    expected: created,
  },
  {
    name: "6 KB of data",
    behaviour: "bigdata",
    expected: { ...failed, id: "thing-1", reason: /4096.*Large/u },
  },
  {
    name: "circular data",
    behaviour: "circular",
    expected: { ...failed, id: "thing-1", reason: /self|circular/u },
  },
  {
    name: "Update returns no id",
    behaviour: "noid",
    request: "Update",
    expected: { status: "SUCCESS", id: "thing-1", data: { A: "1" } },
  },
  {
    name: "Delete returns no id",
    behaviour: "noid",
    request: "Delete",
    expected: { status: "SUCCESS", id: "thing-1" },
  },
  {
    name: "an unknown RequestType",
    behaviour: "happy",
    request: "Read",
    expected: { ...failed, id: "thing-1", reason: /Unknown RequestType/u },
  },
  { name: "a GovCloud ARN", behaviour: "happy", partition: "aws-us-gov", expected: created },
  { name: "an SNS envelope", behaviour: "happy", envelope: "sns", expected: created },
  { name: "the rules of Node 24", behaviour: "happy", node24: true, expected: created },
  { name: "secrets in data, properties and URL", behaviour: "secret", expected: { status: "SUCCESS" } },
];

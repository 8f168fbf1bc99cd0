import { expect, test } from "vitest";
import type { TraceEntry } from "../../engine/ports.ts";
import type { RequestId, StackId } from "../../engine/ids.ts";
import { MemoryDocuments } from "../../storage/memory-documents.ts";
import { FunctionRegistry } from "../../services/functions.ts";
import { adviceOn } from "./advice.ts";
import type { Attempt } from "./invoke.ts";

const functions = new FunctionRegistry(new MemoryDocuments());
const resolved = await functions.create(
  { partition: "aws", account: "123456789012", region: "us-east-1" },
  {
    name: "f",
    code: { kind: "inline", source: "" },
    settings: { runtime: "nodejs20.x", handler: "index.handler" },
  },
);

function put(text: string): TraceEntry {
  return { at: 0, requestId: "r" as RequestId, stackId: "s" as StackId, kind: "put", text };
}

test.each([
  {
    text: "PUT of 312 bytes: 200, ignored: the response has no StackId: copy it",
    advice: "Function f answered, but CloudFormation passed over it: the response has no StackId: copy it.",
  },
  {
    text: "PUT: 403 AccessDenied, request has expired",
    advice: "Function f tried to answer, but S3 refused it (403 AccessDenied): request has expired.",
  },
  {
    text: "PUT broken off after 3 of 5 bytes",
    advice: "Function f tried to answer, but its answer didn't arrive: PUT broken off after 3 of 5 bytes.",
  },
])("what the endpoint saw last decides: $text", ({ text, advice }) => {
  const attempt = { ending: "returned", payload: new Uint8Array(), durationMs: 1 } as Attempt;
  expect(adviceOn({ resolved, attempts: [attempt], trace: [put("PUT: 500 earlier"), put(text)] })).toBe(
    advice,
  );
});

test("a silent request without an attempt is a bug", () => {
  expect(() => adviceOn({ resolved, attempts: [], trace: [] })).toThrow("A silent request had no attempt");
});

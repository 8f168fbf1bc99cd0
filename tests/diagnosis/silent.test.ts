import { expect, test } from "vitest";
import { provoke, type Wrong } from "./support.ts";

// Functions that end without an answer: the request fails at once, and its reason is the advice itself.

interface Case extends Wrong {
  readonly name: string;
  readonly advice: string;
}

test.each<Case>([
  {
    name: "never invoked",
    code: "async function create() {}",
    settings: { ReservedConcurrentExecutions: 0 },
    advice:
      "Function maker has ReservedConcurrentExecutions 0, so that Lambda never runs it: raise it or leave it out.",
  },
  {
    name: "returned without answering",
    code: "async function create() {}",
    advice:
      "Function maker returned without answering: send the response to the ResponseURL and wait until it is sent before the handler returns.",
  },
  {
    name: "returned before its answer was sent, and was frozen",
    code: "async function create(event) {\n  setTimeout(() => answer(event), 10);\n}",
    advice:
      "Function maker returned without answering: send the response to the ResponseURL and wait until it is sent before the handler returns.",
  },
  {
    name: "threw",
    code: "async function create(event) {\n  return event.ResourceProperties.Size.length;\n}",
    retries: 1,
    advice:
      "Function maker failed before it answered (2 attempts): TypeError: Cannot read properties of undefined (reading 'length') at index.js:2. Catch errors in the handler and answer FAILED with the reason.",
  },
  {
    name: "threw in a callback",
    code: "function create() {\n  return new Promise(() => {\n    setTimeout(() => {\n      throw new RangeError('too far');\n    }, 1);\n  });\n}",
    advice:
      "Function maker failed before it answered: RangeError: too far at index.js:4. Catch errors in the handler and answer FAILED with the reason.",
  },
  {
    name: "left a promise to itself that was rejected",
    code: "function create() {\n  void work();\n  return new Promise((done) => setTimeout(done, 1000));\n}\nasync function work() {\n  throw new Error('no luck');\n}",
    advice:
      "Function maker failed before it answered: Error: no luck at index.js:6. Catch errors in the handler and answer FAILED with the reason.",
  },
  {
    name: "raised in Python",
    runtime: "python3.12",
    code: 'def create(event, context):\n    return event["Nothing"]',
    advice:
      "Function maker failed before it answered: KeyError: 'Nothing' at index.py:2. Catch errors in the handler and answer FAILED with the reason.",
  },
  {
    name: "timed out",
    code: "async function create() {\n  for (;;);\n}",
    settings: { Timeout: 1 },
    advice:
      "Function maker was stopped by its Timeout of 1 s before it answered: raise Timeout (at most 900 s), or find what it waits for.",
  },
  {
    name: "ended its process",
    code: "async function create() {\n  process.exit(3);\n}",
    advice:
      "Function maker ended its process (exit status 3) before it answered: answer first, and return from the handler instead of ending the process (process.exit, sys.exit).",
  },
  {
    name: "ended its process in Python, as if all were well",
    runtime: "python3.12",
    code: "def create(event, context):\n    raise SystemExit",
    advice:
      "Function maker ended its process (exit status 0) before it answered: answer first, and return from the handler instead of ending the process (process.exit, sys.exit).",
  },
  {
    name: "crashed in native code",
    runtime: "python3.12",
    code: "def create(event, context):\n    import os, signal\n    os.kill(os.getpid(), signal.SIGSEGV)",
    advice:
      "Function maker ended its process (signal: segmentation fault) before it answered: it crashed in native code, or was killed; its log lines may tell why.",
  },
  {
    name: "filled its memory with buffers",
    code: "async function create() {\n  const kept = [];\n  for (;;) {\n    kept.push(Buffer.alloc(4e6, 1));\n    await new Promise((done) => setTimeout(done, 10));\n  }\n}",
    settings: { Timeout: 60 },
    advice:
      "Function maker used more than its MemorySize of 128 MB and was stopped before it answered: raise MemorySize (at most 10240 MB), or find what fills it.",
  },
  {
    name: "filled its heap",
    code: "async function create() {\n  const kept = [];\n  for (;;) kept.push({ text: `${kept.length}` });\n}",
    settings: { Timeout: 60 },
    advice:
      "Function maker used more than its MemorySize of 128 MB and was stopped before it answered: raise MemorySize (at most 10240 MB), or find what fills it.",
  },
])("$name", async ({ advice, ...wrong }) => {
  const told = await provoke(wrong);
  expect(told.advice).toBe(advice);
  expect(told.report.filter((line) => line.includes(advice))).toEqual([advice]);
  expect(told.logs).toContain(`advice ${advice}`);
});

test("what is shown of the log is the function's own, with its stack in short", async () => {
  const { report } = await provoke({
    code: "async function create(event) {\n  console.log('about to fail');\n  null.length;\n}",
    retries: 1,
  });
  expect(report.slice(2)).toEqual([
    "Its provider's last log lines:",
    "  | about to fail",
    "  | ERROR TypeError: Cannot read properties of null (reading 'length')",
    expect.stringMatching(/^ {2}\| {5}at create \(index\.js:3:8\)$/),
    expect.stringMatching(/^ {2}\| {5}at exports\.handler \(index\.js:\d+:\d+\)$/),
    "  | about to fail",
    "  | ERROR TypeError: Cannot read properties of null (reading 'length')",
    expect.stringMatching(/^ {2}\| {5}at create \(index\.js:3:8\)$/),
    expect.stringMatching(/^ {2}\| {5}at exports\.handler \(index\.js:\d+:\d+\)$/),
  ]);
});

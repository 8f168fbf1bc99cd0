/** The behaviour matrix of Python functions. Real processes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Row, runRow } from "./matrix.ts";
import { type TestLambda, openLambda } from "./support.ts";

let lambda: TestLambda;
beforeAll(async () => {
  lambda = await openLambda();
});
afterAll(async () => await lambda.close());

const python = { runtime: "python3.12" };

const handlers: readonly Row[] = [
  {
    title: "a value",
    code: "def handler(event, context):\n    return {'got': event['turn'] >= 0}",
    first: { result: { got: true } },
  },
  { title: "no value", code: "def handler(event, context):\n    pass", first: { result: null } },
  {
    title: "an exception",
    code: "def handler(event, context):\n    raise ValueError('no')",
    first: { errorType: "ValueError", errorMessage: "no" },
  },
  {
    title: "an exception of an own class",
    code: "class Own(Exception):\n    pass\n\ndef handler(event, context):\n    raise Own('mine')",
    first: { errorType: "Own", errorMessage: "mine" },
  },
  {
    title: "a result that JSON has no word for",
    code: "def handler(event, context):\n    return {1, 2}",
    first: {
      errorType: "Runtime.MarshalError",
      errorMessage: "Unable to marshal response: Object of type set is not JSON serializable",
    },
  },
  {
    title: "non-ASCII results",
    code: "def handler(event, context):\n    return 'grüße 🍮'",
    first: { result: "grüße 🍮" },
  },
  {
    title: "a thread that goes on",
    code: "import threading, time\ndef handler(event, context):\n    threading.Thread(target=time.sleep, args=(60,), daemon=False).start()\n    return 'now'",
    first: { result: "now" },
  },
  {
    title: "state that stays with the instance",
    code: "turns = 0\ndef handler(event, context):\n    global turns\n    turns += 1\n    return turns",
    first: { result: 1 },
    second: { result: 2 },
  },
  {
    title: "a decimal",
    code: "from decimal import Decimal\ndef handler(event, context):\n    return Decimal('1.5')",
    first: { result: 1.5 },
  },
];

test.each(handlers)("Python: $title", async (row) => {
  const seen = await runRow(lambda, { ...row, settings: python });
  expect(seen.outcomes).toEqual([row.first, row.second ?? row.first]);
  expect(seen.instances).toBe(1);
});

const endings: readonly Row[] = [
  {
    title: "a loop that never ends",
    code: "def handler(event, context):\n    while True: pass",
    settings: { timeoutSeconds: 1 },
    first: {
      errorType: "Sandbox.Timedout",
      errorMessage: "RequestId: ID Error: Task timed out after 1.00 seconds",
    },
  },
  {
    title: "sys.exit(1)",
    code: "import sys\ndef handler(event, context):\n    sys.exit(1)",
    first: {
      errorType: "Runtime.ExitError",
      errorMessage: "RequestId: ID Error: Runtime exited with error: exit status 1",
    },
  },
  {
    title: "os._exit(3)",
    code: "import os\ndef handler(event, context):\n    os._exit(3)",
    first: {
      errorType: "Runtime.ExitError",
      errorMessage: "RequestId: ID Error: Runtime exited with error: exit status 3",
    },
  },
  {
    title: "a segmentation fault",
    code: "import os, signal\ndef handler(event, context):\n    os.kill(os.getpid(), signal.SIGSEGV)",
    first: {
      errorType: "Runtime.ExitError",
      errorMessage: "RequestId: ID Error: Runtime exited with error: signal: segmentation fault",
    },
  },
];

test.each(endings)("Python: $title ends the instance; the next event gets a new one", async (row) => {
  const seen = await runRow(lambda, { ...row, settings: { ...python, ...row.settings } });
  expect(seen.outcomes).toEqual([row.first, row.first]);
  expect(seen.instances).toBe(2);
});

const inits: readonly Row[] = [
  {
    title: "a syntax error",
    code: "def handler(event, context)\n    pass",
    first: {
      errorType: "Runtime.UserCodeSyntaxError",
      errorMessage: "Syntax error in module 'index': expected ':' (index.py, line 1)",
    },
  },
  {
    title: "a missing module",
    code: "import nowhere",
    first: {
      errorType: "Runtime.ImportModuleError",
      errorMessage: "Unable to import module 'index': No module named 'nowhere'",
    },
  },
  {
    title: "an error while loading",
    code: "raise TypeError('at init')",
    first: { errorType: "TypeError", errorMessage: "at init" },
  },
  {
    title: "no such function",
    code: "def other(event, context):\n    pass",
    first: {
      errorType: "Runtime.HandlerNotFound",
      errorMessage: "Handler 'handler' missing on module 'index'",
    },
  },
];

test.each(inits)("Python: $title is an init error", async (row) => {
  const seen = await runRow(lambda, { ...row, settings: python });
  expect(seen.outcomes).toEqual([row.first, row.first]);
  expect(seen.instances).toBe(2);
});

test("a handler without a dot", async () => {
  const seen = await runRow(lambda, {
    title: "malformed",
    code: { kind: "directory", path: import.meta.dirname },
    settings: { ...python, handler: "index" },
  });
  expect(seen.outcomes[0]).toEqual({
    errorType: "Runtime.MalformedHandlerName",
    errorMessage: "Bad handler 'index': not enough values to unpack (expected 2, got 1)",
  });
});

test("print, logging and errors are logged as Lambda logs them", async () => {
  const source = `
import logging
logging.getLogger().setLevel(logging.INFO)
print('at init')
def handler(event, context):
    print('raw')
    logging.getLogger('x').info('two\\nlines %s', 1)
    logging.debug('hidden')
    context.log('by context')
    raise ValueError('why')
`;
  await lambda.create("py-logs", source, python);
  const { log, requestId, payload } = await lambda.run("py-logs");
  const shown = log.map((line) =>
    line
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, "TIME")
      .replaceAll(requestId, "ID")
      .replace(/File "[^"]*index.py"/, 'File "index.py"'),
  );
  expect(shown.slice(0, -1)).toEqual([
    "INIT_START Runtime Version: python3.12",
    "at init",
    "START RequestId: ID Version: $LATEST",
    "raw",
    "[INFO]\tTIME\tID\ttwo\rlines 1",
    expect.stringMatching(
      /^by context\[ERROR\] ValueError: why\rTraceback \(most recent call last\):\r\u00a0\u00a0File "index.py", line 10, in handler\r\u00a0\u00a0\u00a0\u00a0raise ValueError\('why'\)$/,
    ),
    "END RequestId: ID",
  ]);
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual({
    errorType: "ValueError",
    errorMessage: "why",
    requestId,
    stackTrace: [expect.stringMatching(/^ {2}File ".*index.py", line 10, in handler\n/)],
  });
});

test("the JSON log format", async () => {
  const source =
    "import logging\ndef handler(event, context):\n    logging.warning('careful')\n    logging.info('hidden')\n";
  await lambda.create("py-json", source, {
    ...python,
    logging: { format: "JSON", applicationLevel: "WARN" },
  });
  const { log, requestId } = await lambda.run("py-json");
  const lines = log
    .filter((line) => line.startsWith('{"timestamp"'))
    .map((line): unknown => JSON.parse(line));
  expect(lines).toEqual([
    { timestamp: expect.any(String), level: "WARNING", message: "careful", logger: "root", requestId },
  ]);
});

test("the context says what Lambda's says", async () => {
  const source = `
def handler(event, context):
    names = [name for name in vars(context) if not name.startswith('_')]
    return {**{name: getattr(context, name) for name in names if name != 'identity'}, 'left': context.get_remaining_time_in_millis()}
`;
  const arn = await lambda.create("py-context", source, python);
  const { payload, requestId } = await lambda.run("py-context");
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual({
    aws_request_id: requestId,
    log_group_name: "/aws/lambda/py-context",
    log_stream_name: expect.stringMatching(/^\d{4}\/\d\d\/\d\d\/\[\$LATEST\][0-9a-f]{32}$/),
    function_name: "py-context",
    memory_limit_in_mb: "128",
    function_version: "$LATEST",
    invoked_function_arn: arn,
    client_context: null,
    tenant_id: null,
    left: expect.toSatisfy((left: number) => left > 0 && left <= 5000),
  });
});

test("modules come from the function's folder, none of Custard's own", async () => {
  const source = `
def handler(event, context):
    import importlib.util, os, sys
    return [sys.path[0] == os.getcwd() == os.environ['LAMBDA_TASK_ROOT'], importlib.util.find_spec('cfnresponse') is None]
`;
  await lambda.create("py-path", source, python);
  const { payload } = await lambda.run("py-path");
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual([true, true]);
});

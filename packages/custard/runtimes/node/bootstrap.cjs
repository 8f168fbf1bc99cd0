"use strict";
/**
 * Runs a Node.js function as Lambda does: loads its handler, asks the Runtime API for events, posts what becomes of
 * them.
 *
 * Started with `--spare` it waits for its function first: the Runtime API then hands it environment and directory.
 */
const fs = require("node:fs");
const module_ = require("node:module");
const path = require("node:path");
const url = require("node:url");
const util = require("node:util");
const v8 = require("node:v8");
const { RuntimeApi } = require("./runtime-client.cjs");

// Kept before the function's code can replace them.
const { setImmediate, JSON, Promise } = globalThis;
const exit = process.exit.bind(process);

// ---------------------------------------------------------------------------------------------- errors

/** An error of the runtime itself: its `name` is Lambda's error type. */
class RuntimeError extends Error {
  constructor(type, reason) {
    super(reason);
    this.name = `Runtime.${type}`;
  }
}

/** What Lambda reports of a thrown value. */
function toReport(error) {
  try {
    if (!isError(error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
    return { errorType: error.name, errorMessage: error.message, trace: String(error.stack).split("\n") };
  } catch {
    return {
      errorType: "handled",
      errorMessage:
        "callback called with Error argument, but there was a problem while retrieving one or more of its message, name, and stack",
    };
  }
}

function isError(value) {
  return (
    util.types.isNativeError(value) ||
    (value?.name !== undefined && value.message !== undefined && value.stack !== undefined)
  );
}

/** The error as Lambda writes it into the log: one line of JSON, errors within it too. */
function toLogged(error) {
  const shown = isError(error) ? error : new Error(String(error));
  try {
    return `\t${JSON.stringify(shown, (_, value) => (isError(value) ? toFields(value) : value))}`;
  } catch {
    return `\t${JSON.stringify(toReport(shown))}`;
  }
}

function toFields(error) {
  const { name: errorType, message: errorMessage, stack } = error;
  const { name: _name, message: _message, stack: _stack, ...own } = error;
  return { errorType, errorMessage, ...own, stack: String(stack).split("\n") };
}

// ----------------------------------------------------------------------------------------------- logs

const levels = { trace: 1, debug: 2, info: 3, warn: 4, error: 5, fatal: 6 };
let requestId;

/** `console` writes as in Lambda: one line per call, with time, request id and level; or JSON when so configured. */
function patchConsole() {
  const json = process.env.AWS_LAMBDA_LOG_FORMAT?.toUpperCase() === "JSON";
  const least = json ? (levels[process.env.AWS_LAMBDA_LOG_LEVEL?.toLowerCase()] ?? levels.info) : 0;
  const write = process.stdout.write.bind(process.stdout);
  const line = json ? jsonLine : textLine;
  for (const [method, level] of Object.entries({
    log: "info",
    fatal: "fatal",
    ...Object.fromEntries(Object.keys(levels).map((name) => [name, name])),
  })) {
    console[method] = (...args) => {
      if (levels[level] >= least) write(line(level.toUpperCase(), args));
    };
  }
}

function textLine(level, args) {
  const text = util.format(...args).replace(/\n/g, "\r");
  return `${new Date().toISOString()}\t${requestId}\t${level}\t${text}\n`;
}

function jsonLine(level, args) {
  const base = { timestamp: new Date().toISOString(), level, requestId };
  const [first] = args;
  const error = args.find(isError);
  const message =
    args.length === 1 && typeof first === "object" && !isError(first) ? first : util.format(...args);
  const fault = error && {
    errorType: error.name,
    errorMessage: error.message,
    stackTrace: String(error.stack).split("\n"),
  };
  try {
    return `${JSON.stringify({ ...base, message, ...fault })}\n`;
  } catch {
    return `${JSON.stringify({ ...base, message: util.format(...args) })}\n`;
  }
}

// ---------------------------------------------------------------------------------------------- loading

/** Finds the handler that a string like `folder/index.handler` names. */
async function loadHandler(root, text) {
  const file = path.basename(text);
  const folder = text.slice(0, text.length - file.length);
  const [, moduleName, exported] = /^([^.]*)\.(.*)$/.exec(file) ?? [];
  if (text.includes("..")) {
    throw new RuntimeError(
      "MalformedHandlerName",
      `'${text}' is not a valid handler name. Use absolute paths when specifying root directories in handler names.`,
    );
  }
  if (moduleName === undefined) throw new RuntimeError("MalformedHandlerName", "Bad handler");
  const loaded = await loadModule(path.resolve(root, folder, moduleName), { root, name: moduleName, folder });
  const handler = exported.split(".").reduce((value, name) => value?.[name], loaded);
  if (handler === undefined || handler === null) {
    throw new RuntimeError("HandlerNotFound", `${text} is undefined or not exported`);
  }
  if (typeof handler !== "function") throw new RuntimeError("HandlerNotFound", `${text} is not a function`);
  return handler;
}

async function loadModule(base, { root, name, folder }) {
  try {
    return await loadFile(base, () =>
      require(require.resolve(name, { paths: [root, path.resolve(root, folder)] })),
    );
  } catch (error) {
    if (error instanceof SyntaxError)
      throw Object.assign(new RuntimeError("UserCodeSyntaxError", error), { stack: error.stack });
    if (error?.code === "MODULE_NOT_FOUND")
      throw Object.assign(new RuntimeError("ImportModuleError", error), { stack: error.stack });
    throw error;
  }
}

/** The order in which Lambda looks for a module's file. */
async function loadFile(base, elsewhere) {
  if (fs.existsSync(base) && fs.statSync(base).isFile())
    return isModuleFolder(base) ? await importFile(base) : require(base);
  if (fs.existsSync(`${base}.js`))
    return isModuleFolder(base) ? await importFile(`${base}.js`) : require(`${base}.js`);
  if (fs.existsSync(`${base}.mjs`)) return await importFile(`${base}.mjs`);
  if (fs.existsSync(`${base}.cjs`)) return require(`${base}.cjs`);
  return elsewhere();
}

function importFile(file) {
  return import(url.pathToFileURL(file).href);
}

/** Does the nearest package.json say `"type": "module"`? */
function isModuleFolder(file) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    try {
      return JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8")).type === "module";
    } catch {
      if (folder === path.dirname(folder) || path.basename(folder) === "node_modules") return false;
    }
  }
}

// ------------------------------------------------------------------------------------------- invocations

let whenLoopIsEmpty;
let onCrash;

process.on("beforeExit", () => {
  const act = whenLoopIsEmpty;
  whenLoopIsEmpty = undefined;
  act?.();
});

function invocationOf(id) {
  return `/2018-06-01/runtime/invocation/${id}`;
}

function toErrorMessage(report) {
  const headers = {
    "lambda-runtime-function-error-type": report.errorType,
    "content-type": "application/json",
  };
  return { body: JSON.stringify(report), headers };
}

class Invocation {
  #api;
  #event;
  #next;
  #completed = false;
  #posted = false;
  waitsForEmptyLoop = true;

  constructor(api, event, next) {
    this.#api = api;
    this.#event = event;
    this.#next = next;
  }

  get id() {
    return this.#event.headers["lambda-runtime-aws-request-id"];
  }

  /** The first call decides; later ones change nothing. */
  complete(act) {
    if (this.#completed) return;
    this.#completed = true;
    act();
  }

  postResult(result) {
    let body;
    try {
      body = JSON.stringify(result === undefined ? null : result) ?? "null";
    } catch {
      return this.postError(new Error("Unable to stringify response body"));
    }
    this.#goOn("response", { body });
  }

  postError(error) {
    console.error("Invoke Error", toLogged(error));
    this.#goOn("error", toErrorMessage(toReport(error)));
  }

  /** Of a crash: the process doesn't ask for another event. */
  async postCrash(report) {
    if (this.#isFirst())
      await this.#api.request("POST", `${invocationOf(this.id)}/error`, toErrorMessage(report));
  }

  #goOn(kind, message) {
    if (this.#isFirst()) this.#next(this.#api.postAndNext(`${invocationOf(this.id)}/${kind}`, message));
  }

  #isFirst() {
    if (this.#posted) return false;
    this.#posted = true;
    whenLoopIsEmpty = undefined;
    return true;
  }

  context() {
    const { headers } = this.#event;
    const deadline = Number(headers["lambda-runtime-deadline-ms"]);
    return {
      functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
      functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
      memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
      logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
      logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
      clientContext: parseHeader(headers["lambda-runtime-client-context"]),
      identity: parseHeader(headers["lambda-runtime-cognito-identity"]),
      invokedFunctionArn: headers["lambda-runtime-invoked-function-arn"],
      awsRequestId: this.id,
      getRemainingTimeInMillis: () => deadline - Date.now(),
    };
  }
}

function parseHeader(text) {
  return text === undefined || text === "" ? undefined : JSON.parse(text);
}

/** nodejs18.x to nodejs22.x: callbacks, `context.done` and its kin, promises. */
function invokeClassic(invocation, handler, event) {
  const fail = (error) => invocation.postError(error);
  const finish = (result) => invocation.postResult(result);
  const done = (error, result) =>
    invocation.complete(() => (error === undefined || error === null ? finish(result) : fail(error)));
  const context = Object.defineProperty(
    {
      ...invocation.context(),
      done,
      succeed: (result) => done(undefined, result),
      fail: (error) => done(error ?? "handled"),
    },
    "callbackWaitsForEmptyEventLoop",
    {
      enumerable: true,
      get: () => invocation.waitsForEmptyLoop,
      set: (value) => {
        invocation.waitsForEmptyLoop = Boolean(value);
      },
    },
  );
  const callback = (error, result) =>
    invocation.complete(() => {
      if (error !== undefined && error !== null) fail(error);
      else if (invocation.waitsForEmptyLoop) whenLoopIsEmpty = () => setImmediate(finish, result);
      else finish(result);
    });
  whenLoopIsEmpty = () => invocation.complete(() => (isAsync(handler) ? fail(neverSettled()) : finish(null)));
  try {
    const result = handler(event, context, callback);
    if (typeof result?.then === "function") result.then(context.succeed, context.fail).catch(context.fail);
  } catch (error) {
    callback(error);
  }
}

/** From nodejs24.x on: what the handler returns, awaited, is the result. */
async function invokeModern(invocation, handler, event) {
  whenLoopIsEmpty = () => invocation.complete(() => invocation.postError(neverSettled()));
  try {
    const result = await handler(event, invocation.context());
    invocation.complete(() => invocation.postResult(result));
  } catch (error) {
    invocation.complete(() => invocation.postError(error));
  }
}

function isAsync(handler) {
  return handler.constructor?.name === "AsyncFunction";
}

function neverSettled() {
  return new RuntimeError(
    "NodeJsExit",
    "The Lambda runtime client detected an unexpected Node.js exit code. This is most commonly caused by a Promise that was never settled.",
  );
}

/** An error outside of the handler ends the process: 129 for an exception, 128 for a rejection. */
function watchForCrashes() {
  process.on("uncaughtException", (error) => {
    console.error("Uncaught Exception", toLogged(error));
    onCrash(toReport(error), 129);
  });
  process.on("unhandledRejection", (reason, promise) => {
    const error = Object.assign(new RuntimeError("UnhandledPromiseRejection", String(reason)), {
      reason,
      promise,
    });
    console.error("Unhandled Promise Rejection", toLogged(error));
    onCrash(toReport(error), 128);
  });
}

async function serve(api, handler) {
  const modern = !/^AWS_Lambda_nodejs(?:18|20|22)\.x$/.test(process.env.AWS_EXECUTION_ENV ?? "");
  const invoke = modern ? invokeModern : invokeClassic;
  if (modern && handler.length >= 3) {
    throw new RuntimeError(
      "CallbackHandlerDeprecated",
      "AWS Lambda has removed support for callback-based function handlers starting with Node.js 24. You need to modify this function to use a supported handler signature to use Node.js 24 or later. For more information see https://docs.aws.amazon.com/lambda/latest/dg/nodejs-handler.html.",
    );
  }
  let event = await api.next();
  for (;;) {
    const current = event;
    event = await new Promise((next) => {
      const invocation = new Invocation(api, current, next);
      requestId = invocation.id;
      process.env._X_AMZN_TRACE_ID = current.headers["lambda-runtime-trace-id"] ?? "";
      onCrash = (report, status) => void invocation.postCrash(report).then(() => exit(status));
      invoke(invocation, handler, JSON.parse(current.body));
    });
  }
}

/** A spare process becomes its function's: environment, directory, module path and heap limit. */
async function takeAssignment(api) {
  const assigned = api.request("GET", "/custard/assignment");
  // What nearly every provider needs to answer, loaded while there is nothing else to do.
  require("node:https");
  require("node:tls").createSecureContext();
  const { body } = await assigned;
  const { environment, directory, heapMegabytes } = JSON.parse(body);
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(directory);
  module_.Module._initPaths();
  if (heapMegabytes !== undefined) v8.setFlagsFromString(`--max-old-space-size=${heapMegabytes}`);
}

async function main() {
  const { AWS_LAMBDA_RUNTIME_API: address, CUSTARD_RUNTIME_TOKEN: token } = process.env;
  delete process.env.CUSTARD_RUNTIME_TOKEN;
  const api = new RuntimeApi(address, token);
  if (process.argv.includes("--spare")) await takeAssignment(api);
  patchConsole();
  onCrash = (report, status) => {
    const message = toErrorMessage(report);
    void api.request("POST", "/2018-06-01/runtime/init/error", message).then(() => exit(status));
  };
  watchForCrashes();
  try {
    const handler = await loadHandler(process.env.LAMBDA_TASK_ROOT, process.env._HANDLER);
    await serve(api, handler);
  } catch (error) {
    console.error("Uncaught Exception", toLogged(error));
    onCrash(toReport(error), 129);
  }
}

void main();

// One invocation as Lambda makes it: the process ends as soon as the handler's promise has settled, as a frozen one.
const { adapter, event, behaviour, limit, node24 } = JSON.parse(process.env.PROBE);
process.env.PROBE_BEHAVIOUR = behaviour;
const end = Date.now() + limit;

const finish = (kind, detail) => {
  process.stdout.write(`\n[probe] ${kind} ${detail ?? ""}\n`, () => process.exit(0));
};

const { handler } = await import(adapter);
if (node24 && handler.length > 2) {
  process.stdout.write("\n[probe] rejected CallbackHandlerDeprecated\n");
  process.exit(1);
}

const context = {
  getRemainingTimeInMillis: () => end - Date.now(),
  awsRequestId: "11111111-1111-4111-8111-111111111111",
  functionName: "provider",
  functionVersion: "$LATEST",
  invokedFunctionArn: "arn:aws:lambda:us-east-1:123456789012:function:provider",
  logGroupName: "/aws/lambda/provider",
  logStreamName: "2026/12/01/[$LATEST]0123456789abcdef0123456789abcdef",
  memoryLimitInMB: "128",
  callbackWaitsForEmptyEventLoop: true,
};
if (!node24) {
  context.done = (error) => finish(error ? "failed" : "returned", error?.message);
  context.succeed = () => finish("returned");
  context.fail = (error) => finish("failed", error?.message);
}

const result = node24
  ? handler(event, context)
  : handler(event, context, (error) => finish(error ? "failed" : "returned"));
if (typeof result?.then === "function") {
  result.then(
    () => finish("returned"),
    (error) => finish("failed", error?.message),
  );
} else if (node24) {
  finish("returned");
}

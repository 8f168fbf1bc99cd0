// A stack for each way in which CDK apps have custom resources.
const { App, CfnOutput, CustomResource, Duration, RemovalPolicy, Stack } = require("aws-cdk-lib");
const { Code, Function: LambdaFunction, Runtime } = require("aws-cdk-lib/aws-lambda");
const { Bucket } = require("aws-cdk-lib/aws-s3");
const {
  AwsCustomResource,
  AwsCustomResourcePolicy,
  PhysicalResourceId,
  Provider,
} = require("aws-cdk-lib/custom-resources");

const value = process.env.VALUE ?? "1";
const app = new App();
const env = { account: "123456789012", region: "us-east-1" };

function functionOf(scope, id, source) {
  const runtime = Runtime.NODEJS_20_X;
  return new LambdaFunction(scope, id, { runtime, handler: "index.handler", code: Code.fromInline(source) });
}

const inline = new Stack(app, "Inline", { env });
const answering = functionOf(
  inline,
  "Function",
  `const response = require("cfn-response");
exports.handler = (event, context) => {
  const data = { Doubled: String(2 * event.ResourceProperties.value) };
  response.send(event, context, "SUCCESS", data, "mine");
};`,
);
const mine = new CustomResource(inline, "Mine", {
  resourceType: "Custom::Mine",
  serviceToken: answering.functionArn,
  properties: { value },
});
new CfnOutput(inline, "Doubled", { value: mine.getAttString("Doubled") });

const provided = new Stack(app, "Provided", { env });
const provider = new Provider(provided, "Provider", {
  onEventHandler: functionOf(
    provided,
    "OnEvent",
    `exports.handler = async (event) => ({ PhysicalResourceId: "p", Data: { Got: event.ResourceProperties.value } });`,
  ),
});
const got = new CustomResource(provided, "Resource", {
  serviceToken: provider.serviceToken,
  properties: { value },
});
new CfnOutput(provided, "Got", { value: got.getAttString("Got") });

const waiting = new Stack(app, "Waiting", { env });
const slow = new Provider(waiting, "Provider", {
  queryInterval: Duration.seconds(1),
  totalTimeout: Duration.minutes(2),
  onEventHandler: functionOf(
    waiting,
    "OnEvent",
    `exports.handler = async () => ({ PhysicalResourceId: "w" });`,
  ),
  isCompleteHandler: functionOf(
    waiting,
    "IsComplete",
    `let asked = 0;
exports.handler = async () => (++asked < 2 ? { IsComplete: false } : { IsComplete: true, Data: { End: "done" } });`,
  ),
});
const done = new CustomResource(waiting, "Resource", {
  serviceToken: slow.serviceToken,
  properties: { value },
});
new CfnOutput(waiting, "End", { value: done.getAttString("End") });

const calling = new Stack(app, "Calling", { env });
const call = new AwsCustomResource(calling, "Parameter", {
  policy: AwsCustomResourcePolicy.fromSdkCalls({ resources: ["*"] }),
  installLatestAwsSdk: false,
  onUpdate: {
    service: "SSM",
    action: "PutParameter",
    parameters: { Name: "/from/cdk", Value: value, Type: "String", Overwrite: true },
    physicalResourceId: PhysicalResourceId.of("parameter"),
  },
  onDelete: { service: "SSM", action: "DeleteParameter", parameters: { Name: "/from/cdk" } },
});
new CfnOutput(calling, "Version", { value: call.getResponseField("Version") });

const emptied = new Stack(app, "Emptied", { env });
new Bucket(emptied, "Bucket", {
  bucketName: "emptied-by-the-cdk",
  removalPolicy: RemovalPolicy.DESTROY,
  autoDeleteObjects: true,
});

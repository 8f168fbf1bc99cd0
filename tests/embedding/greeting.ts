import { openEmbedded, type EmbeddedProvider } from "custard";

const serviceToken = "arn:aws:lambda:us-east-1:123456789012:function:greeting";

// A provider: what a Lambda function would do about a request.
const greeting: EmbeddedProvider = (request) => {
  if (request.requestType === "Delete") return {};
  const { Name: name } = request.properties;
  if (typeof name !== "string") return { status: "FAILED", reason: "Whom shall I greet? Give a Name." };
  return { physicalId: `greeting-${name}`, data: { Text: `Hello, ${name}!` } };
};

const custard = openEmbedded({ providers: { [serviceToken]: greeting } });

// A stack, as CloudFormation runs it.
const template = {
  Resources: {
    Greeting: { Type: "Custom::Greeting", Properties: { ServiceToken: serviceToken, Name: "Ada" } },
  },
  Outputs: { Text: { Value: { "Fn::GetAtt": ["Greeting", "Text"] } } },
};
const stackId = await custard.engine.createStack({
  stackName: "hello",
  templateBody: JSON.stringify(template),
});
const stack = await custard.engine.settled(stackId);
export const output = `${stack.status}: ${stack.outputs[0]?.value}`;

// The same resource without a stack. Another name is another greeting, so the update replaces it.
const resource = custard.resource({ serviceToken });
await resource.create({ Name: "Ada" });
export const updated = await resource.update({ Name: "Grace" });
await resource.delete();

await custard.close();

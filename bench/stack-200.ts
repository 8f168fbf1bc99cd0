// Milliseconds per resource for 200 custom resources of one warm function, against what a bare node takes to start.
// Goal: under 10 ms each.
import { deploy, median, startOf, timeOf } from "./measure.ts";

const count = 200;

const resources = Array.from(
  { length: count },
  (_, index) => `  R${index}:
    Type: Custom::One
    DependsOn: Warm
    Properties:
      ServiceToken: !GetAtt Function.Arn
      Index: ${index}
`,
);

const template = `Resources:
  Function:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: nodejs20.x
      Handler: index.handler
      Role: arn:aws:iam::123456789012:role/bench
      Code:
        ZipFile: |
          const response = require("cfn-response");
          exports.handler = (event, context) => response.send(event, context, response.SUCCESS, {}, event.LogicalResourceId);
  Warm:
    Type: Custom::One
    Properties:
      ServiceToken: !GetAtt Function.Arn
${resources.join("")}`;

const bareNode = await median(5, () => startOf(process.execPath, ["-e", "0"]));
const each = await median(3, async () => {
  const lines = await deploy(template);
  return (timeOf(lines, "bench", "CREATE_COMPLETE") - timeOf(lines, "Warm", "CREATE_COMPLETE")) / count;
});

console.log(`${count} resources on one warm function: ${each.toFixed(2)} ms each (goal: under 10 ms)`);
console.log(`ratio ${(each / bareNode).toFixed(3)} of a bare node start (${bareNode.toFixed(0)} ms)`);

// From the start of the process to CREATE_COMPLETE of a stack with one inline Python resource, against what a bare
// python3 and a bare node take to start, in the same run. Goal: within 3 times that.
import { deploy, median, python, startOf, timeOf } from "./measure.ts";

const template = `Resources:
  Function:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3.12
      Handler: index.handler
      Role: arn:aws:iam::123456789012:role/bench
      Code:
        ZipFile: |
          import cfnresponse

          def handler(event, context):
              cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, "one")
  One:
    Type: Custom::One
    Properties:
      ServiceToken: !GetAtt Function.Arn
`;

const times = 7;
const interpreter = python();
const barePython = await median(times, () => startOf(interpreter, ["-c", "pass"]));
const bareNode = await median(times, () => startOf(process.execPath, ["-e", "0"]));
const complete = await median(times, async () => timeOf(await deploy(template), "bench", "CREATE_COMPLETE"));
const bare = barePython + bareNode;

console.log(
  `bare python3 ${barePython.toFixed(0)} ms + bare node ${bareNode.toFixed(0)} ms = ${bare.toFixed(0)} ms`,
);
console.log(`start to CREATE_COMPLETE, one inline Python resource: ${complete.toFixed(0)} ms`);
console.log(`ratio ${(complete / bare).toFixed(2)} (goal: at most 3)`);

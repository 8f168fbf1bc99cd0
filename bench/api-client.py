"""Creates stacks through boto3 for some seconds, each to its final status; prints stacks per second, and the
milliseconds that this client itself computed for each."""
import sys
import time

import boto3

endpoint, count, seconds, prefix = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
client = boto3.client(
    "cloudformation",
    endpoint_url=endpoint,
    region_name="us-east-1",
    aws_access_key_id="test",
    aws_secret_access_key="test",
)
body = "Resources:\n" + "".join(f"  Topic{n}: {{Type: 'AWS::SNS::Topic'}}\n" for n in range(count))


def life(name):
    client.create_stack(StackName=name, TemplateBody=body)
    while True:
        status = client.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"]
        if status == "CREATE_COMPLETE":
            return
        if not status.endswith("_IN_PROGRESS"):
            raise SystemExit(f"{name} is {status}")


life(f"{prefix}-first")
start, computed, made = time.monotonic(), time.process_time(), 0
while time.monotonic() - start < seconds:
    life(f"{prefix}-{made}")
    made += 1
print(made / (time.monotonic() - start), 1000 * (time.process_time() - computed) / made)

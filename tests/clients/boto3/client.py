"""Deploys, watches, updates and deletes a stack with boto3's waiters and paginators; prints what it saw as JSON."""
import json
import os
import sys

import boto3
from botocore.exceptions import ClientError, WaiterError

endpoint, template = sys.argv[1], open(sys.argv[2], encoding="utf-8").read()


def client(service, region="us-east-1", key="test"):
    return boto3.client(service, endpoint_url=endpoint, region_name=region, aws_access_key_id=key, aws_secret_access_key="test")


seen = {}
cloudformation = client("cloudformation")
stack = {"StackName": "boto", "TemplateBody": template, "Capabilities": ["CAPABILITY_IAM"]}

cloudformation.create_stack(**stack, Tags=[{"Key": "né", "Value": "a&b<\">"}])
cloudformation.get_waiter("stack_create_complete").wait(StackName="boto")
described = cloudformation.describe_stacks(StackName="boto")["Stacks"][0]
seen["status"], seen["tags"] = described["StackStatus"], described["Tags"]
seen["outputs"] = sorted(output["OutputKey"] for output in described["Outputs"])

try:
    cloudformation.create_stack(**stack)
except cloudformation.exceptions.AlreadyExistsException as error:
    seen["again"] = error.response["Error"]["Message"]
try:
    cloudformation.update_stack(**stack)
except ClientError as error:
    seen["unchanged"] = error.response["Error"]["Message"]

cloudformation.update_stack(**stack, Parameters=[{"ParameterKey": "Word", "ParameterValue": "x\r\n"}])
cloudformation.get_waiter("stack_update_complete").wait(StackName="boto")
pages = cloudformation.get_paginator("describe_stack_events").paginate(StackName="boto")
events = [event for page in pages for event in page["StackEvents"]]
seen["newestFirst"] = events[0]["ResourceStatus"]
seen["unique"] = len({event["EventId"] for event in events}) == len(events)
seen["word"] = next(
    output["OutputValue"]
    for output in cloudformation.describe_stacks(StackName="boto")["Stacks"][0]["Outputs"]
    if output["OutputKey"] == "Word"
)

failing = {**stack, "StackName": "failing", "Parameters": [{"ParameterKey": "Fail", "ParameterValue": "Create"}]}
cloudformation.create_stack(**failing, OnFailure="DELETE")
try:
    cloudformation.get_waiter("stack_create_complete").wait(StackName="failing", WaiterConfig={"Delay": 1})
except WaiterError as error:
    seen["failed"] = "Waiter StackCreateComplete failed" in str(error)

try:
    cloudformation.describe_change_set(ChangeSetName="nope", StackName="boto")
except cloudformation.exceptions.ChangeSetNotFoundException as error:
    seen["noChangeSet"] = error.response["ResponseMetadata"]["HTTPStatusCode"]

# Places side by side: another region and another account know nothing of the stack.
seen["elsewhere"] = [
    len(client("cloudformation", region="eu-west-1").describe_stacks()["Stacks"]),
    len(client("cloudformation", key="999999999999").describe_stacks()["Stacks"]),
]
seen["account"] = client("sts", key="999999999999").get_caller_identity()["Account"]

s3 = client("s3")
s3.create_bucket(Bucket="boto-bucket")
s3.upload_file(sys.argv[2], "boto-bucket", "a/b c.yaml")
seen["object"] = s3.get_object(Bucket="boto-bucket", Key="a/b c.yaml")["Body"].read().decode() == template
s3.put_object(Bucket="boto-bucket", Key="new", Body=b"x" * 100_000, ChecksumAlgorithm="SHA256")
seen["keys"] = [entry["Key"] for page in s3.get_paginator("list_objects_v2").paginate(Bucket="boto-bucket", PaginationConfig={"PageSize": 1}) for entry in page["Contents"]]
try:
    s3.get_object(Bucket="boto-bucket", Key="nope")
except s3.exceptions.NoSuchKey as error:
    seen["noKey"] = error.response["Error"]["Code"]

function = next(output["OutputValue"] for output in described["Outputs"] if output["OutputKey"] == "Function")
answer = client("lambda").invoke(FunctionName=function, Payload=json.dumps({"x": 1}), LogType="Tail")
seen["answer"] = json.loads(answer["Payload"].read())

cloudformation.delete_stack(StackName="boto")
cloudformation.get_waiter("stack_delete_complete").wait(StackName="boto")
try:
    cloudformation.describe_stacks(StackName="boto")
except ClientError as error:
    seen["gone"] = error.response["Error"]
print(json.dumps(seen))

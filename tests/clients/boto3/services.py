"""Uses the smaller services through boto3; prints what it saw as JSON."""
import json
import sys

import boto3

endpoint = sys.argv[1]


def client(service):
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


seen = {}

iam = client("iam")
trust = {"Version": "2012-10-17", "Statement": []}
iam.create_role(RoleName="mine", AssumeRolePolicyDocument=json.dumps(trust))
iam.get_waiter("role_exists").wait(RoleName="mine")
seen["role"] = iam.get_role(RoleName="mine")["Role"]["AssumeRolePolicyDocument"]
try:
    iam.get_role(RoleName="nope")
except iam.exceptions.NoSuchEntityException as error:
    seen["noRole"] = error.response["Error"]["Message"]

kms = client("kms")
key = kms.create_key(Description="mine")["KeyMetadata"]["KeyId"]
kms.create_alias(AliasName="alias/mine", TargetKeyId=key)
sealed = kms.encrypt(KeyId="alias/mine", Plaintext=b"secret")["CiphertextBlob"]
seen["opened"] = kms.decrypt(CiphertextBlob=sealed)["Plaintext"].decode()
try:
    kms.describe_key(KeyId="alias/nope")
except kms.exceptions.NotFoundException as error:
    seen["noKey"] = error.response["Error"]["Code"]

ecr = client("ecr")
ecr.create_repository(repositoryName="mine")
seen["repositories"] = [each["repositoryName"] for each in ecr.describe_repositories()["repositories"]]

sqs = client("sqs")
queue = sqs.create_queue(QueueName="mine", Attributes={"VisibilityTimeout": "1"}, tags={"a": "b"})["QueueUrl"]
sqs.send_message(
    QueueUrl=queue,
    MessageBody="hello",
    MessageAttributes={"n": {"DataType": "Number", "StringValue": "1"}},
)
received = sqs.receive_message(QueueUrl=queue, MessageAttributeNames=["All"], AttributeNames=["All"])["Messages"]
seen["messages"] = [[each["Body"], each["MessageAttributes"]["n"]["StringValue"]] for each in received]
sqs.delete_message(QueueUrl=queue, ReceiptHandle=received[0]["ReceiptHandle"])
seen["tags"] = sqs.list_queue_tags(QueueUrl=queue)["Tags"]
try:
    sqs.get_queue_url(QueueName="nope")
except sqs.exceptions.QueueDoesNotExist as error:
    seen["noQueue"] = error.response["Error"]["Code"]

print(json.dumps(seen))

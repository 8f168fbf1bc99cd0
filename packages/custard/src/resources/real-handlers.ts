import type { Services } from "../services/open-services.ts";
import { s3Bucket, s3BucketPolicy } from "./bucket.ts";
import type { Handler } from "./handler.ts";
import type { KeptRecords } from "./kept-records.ts";
import { lambdaFunction } from "./lambda-function.ts";
import { lambdaLayerVersion } from "./lambda-layer.ts";
import { lambdaAlias, lambdaEventInvokeConfig, lambdaPermission, lambdaVersion } from "./lambda-parts.ts";
import { logGroup } from "./log-group.ts";
import { cloudFormationMacro } from "./macro.ts";
import { secretsManagerSecret } from "./secret.ts";
import { snsSubscription, snsTopic, snsTopicPolicy } from "./sns.ts";
import { sqsQueue, sqsQueuePolicy } from "./sqs.ts";
import { stateMachine } from "./state-machine.ts";
import { ssmParameter } from "./ssm-parameter.ts";

/** The types that something real stands behind. */
export function realHandlers(world: Services, records: KeptRecords): Readonly<Record<string, Handler>> {
  const { functions, layers, parameters, queues, s3, secrets, topics } = world;
  return {
    "AWS::CloudFormation::Macro": cloudFormationMacro(world.macros, records),
    "AWS::Lambda::Alias": lambdaAlias(functions),
    "AWS::Lambda::EventInvokeConfig": lambdaEventInvokeConfig(functions),
    "AWS::Lambda::Function": lambdaFunction(world),
    "AWS::Lambda::LayerVersion": lambdaLayerVersion(layers, s3),
    "AWS::Lambda::Permission": lambdaPermission(functions, records),
    "AWS::Lambda::Version": lambdaVersion(functions, records),
    "AWS::Logs::LogGroup": logGroup(world, records),
    "AWS::S3::Bucket": s3Bucket(s3, records),
    "AWS::S3::BucketPolicy": s3BucketPolicy(s3),
    "AWS::SNS::Subscription": snsSubscription(topics),
    "AWS::SNS::Topic": snsTopic(topics, records),
    "AWS::SNS::TopicPolicy": snsTopicPolicy(topics),
    "AWS::SQS::Queue": sqsQueue(queues, records),
    "AWS::SQS::QueuePolicy": sqsQueuePolicy(queues),
    "AWS::SecretsManager::Secret": secretsManagerSecret(secrets, records),
    "AWS::StepFunctions::StateMachine": stateMachine(world, records),
    "AWS::SSM::Parameter": ssmParameter(parameters, records),
  };
}

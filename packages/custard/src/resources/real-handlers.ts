import type { Documents } from "../engine/ports.ts";
import type { FunctionRegistry } from "../services/functions.ts";
import type { LayerRegistry } from "../services/layers.ts";
import type { QueueRegistry } from "../services/queues.ts";
import type { ParameterStore } from "../services/parameters.ts";
import type { S3 } from "../services/s3.ts";
import type { TopicRegistry } from "../services/topics.ts";
import { s3Bucket, s3BucketPolicy } from "./bucket.ts";
import type { Handler } from "./handler.ts";
import type { KeptRecords } from "./kept-records.ts";
import { lambdaFunction } from "./lambda-function.ts";
import { lambdaLayerVersion } from "./lambda-layer.ts";
import { lambdaAlias, lambdaEventInvokeConfig, lambdaPermission, lambdaVersion } from "./lambda-parts.ts";
import { snsSubscription, snsTopic, snsTopicPolicy } from "./sns.ts";
import { sqsQueue, sqsQueuePolicy } from "./sqs.ts";
import { ssmParameter } from "./ssm-parameter.ts";

/** What the types need of the world. */
export interface ResourceWorld {
  readonly documents: Documents;
  readonly functions: FunctionRegistry;
  readonly layers: LayerRegistry;
  readonly parameters: ParameterStore;
  readonly queues: QueueRegistry;
  readonly s3: S3;
  readonly topics: TopicRegistry;
}

/** The types that something real stands behind. */
export function realHandlers(world: ResourceWorld, records: KeptRecords): Readonly<Record<string, Handler>> {
  const { functions, layers, parameters, queues, s3, topics } = world;
  return {
    "AWS::Lambda::Alias": lambdaAlias(functions),
    "AWS::Lambda::EventInvokeConfig": lambdaEventInvokeConfig(functions),
    "AWS::Lambda::Function": lambdaFunction(functions, s3),
    "AWS::Lambda::LayerVersion": lambdaLayerVersion(layers, s3),
    "AWS::Lambda::Permission": lambdaPermission(functions, records),
    "AWS::Lambda::Version": lambdaVersion(functions, records),
    "AWS::S3::Bucket": s3Bucket(s3, records),
    "AWS::S3::BucketPolicy": s3BucketPolicy(s3),
    "AWS::SNS::Subscription": snsSubscription(topics),
    "AWS::SNS::Topic": snsTopic(topics, records),
    "AWS::SNS::TopicPolicy": snsTopicPolicy(topics),
    "AWS::SQS::Queue": sqsQueue(queues, records),
    "AWS::SQS::QueuePolicy": sqsQueuePolicy(queues),
    "AWS::SSM::Parameter": ssmParameter(parameters, records),
  };
}

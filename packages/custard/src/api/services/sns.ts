/** SNS: its operations, over the local topics. */
import type { MessageAttribute } from "../../services/filter-policy.ts";
import { TopicError } from "../../services/topic-error.ts";
import type { Subscription, Topic } from "../../services/topic-record.ts";
import type { TopicRegistry } from "../../services/topics.ts";
import { ApiError } from "../api-error.ts";
import { definedOf } from "../defined.ts";
import type { Input } from "../input.ts";
import { pageOf } from "../pages.ts";
import type { ApiCall, Handler, Scope, Service } from "../service.ts";
import { tagsOf, toTags } from "../tags.ts";
import type { WireObject } from "../wire.ts";
import { policyOf, withoutStatement, withStatement } from "./sns/permissions.ts";

/** Publishes to topics. */
export interface Publisher {
  publish(message: {
    readonly topicArn: string;
    readonly message: string;
    readonly subject?: string;
    readonly attributes?: Readonly<Record<string, MessageAttribute>>;
  }): Promise<{ readonly messageId: string }>;
}

/** What SNS works on. */
export interface SnsWorld {
  readonly topics: TopicRegistry;
  readonly publisher: Publisher;
}

type Handle = Handler<SnsWorld>;

const pageSize = 100;
const pending = "PendingConfirmation";

const createTopic: Handle = async ({ input, scope }, { topics }) => {
  const { arn } = await topics.create(scope, {
    name: input.need("Name"),
    attributes: input.map("Attributes") ?? {},
    tags: tagsOf(input),
  });
  return { TopicArn: arn };
};

const deleteTopic: Handle = async ({ input, scope }, { topics }) => {
  await topics.delete(arnOf(input.need("TopicArn"), scope));
  return {};
};

const listTopics: Handle = async (call, { topics }) => {
  const { items, next } = page(call, await topics.list(call.scope));
  return { Topics: items.map(({ arn }) => ({ TopicArn: arn })), NextToken: next };
};

const getTopicAttributes: Handle = async ({ input, scope }, { topics }) => {
  const topic = await topics.get(arnOf(input.need("TopicArn"), scope));
  const subscriptions = await topics.subscriptionsOf(topic.arn);
  return { Attributes: attributesOfTopic(topic, { scope, subscriptions }) };
};

const setTopicAttributes: Handle = async ({ input, scope }, { topics }) => {
  const value = input.text("AttributeValue") ?? "";
  await topics.setAttribute(arnOf(input.need("TopicArn"), scope), input.need("AttributeName"), value);
  return {};
};

const subscribe: Handle = async ({ input, scope }, { topics }) => {
  const subscription = await topics.subscribe({
    topicArn: arnOf(input.need("TopicArn"), scope),
    protocol: input.need("Protocol"),
    endpoint: input.text("Endpoint") ?? "",
    attributes: input.map("Attributes") ?? {},
  });
  const isShown = subscription.status === "confirmed" || input.flag("ReturnSubscriptionArn") === true;
  return { SubscriptionArn: isShown ? subscription.arn : "pending confirmation" };
};

const confirmSubscription: Handle = async ({ input, scope }, { topics }) => {
  const { arn } = await topics.confirm(arnOf(input.need("TopicArn"), scope), input.need("Token"));
  return { SubscriptionArn: arn };
};

const unsubscribe: Handle = async ({ input, scope }, { topics }) => {
  await topics.unsubscribe(arnOf(input.need("SubscriptionArn"), scope));
  return {};
};

const listSubscriptionsByTopic: Handle = async (call, { topics }) => {
  const { arn } = await topics.get(arnOf(call.input.need("TopicArn"), call.scope));
  const { items, next } = page(call, await topics.subscriptionsOf(arn));
  return { Subscriptions: items.map(toSubscription), NextToken: next };
};

const listSubscriptions: Handle = async (call, { topics }) => {
  const all = await topics.list(call.scope);
  const subscriptions = await Promise.all(all.map(async ({ arn }) => topics.subscriptionsOf(arn)));
  const { items, next } = page(call, subscriptions.flat());
  return { Subscriptions: items.map(toSubscription), NextToken: next };
};

const getSubscriptionAttributes: Handle = async ({ input, scope }, { topics }) => {
  const subscription = await topics.subscription(arnOf(input.need("SubscriptionArn"), scope));
  const { arn, topicArn, protocol, endpoint, owner, status, attributes } = subscription;
  return {
    Attributes: {
      RawMessageDelivery: "false",
      ...attributes,
      SubscriptionArn: arn,
      TopicArn: topicArn,
      Protocol: protocol,
      Endpoint: endpoint,
      Owner: owner,
      PendingConfirmation: String(status === "pending"),
      ConfirmationWasAuthenticated: String(status === "confirmed"),
    },
  };
};

const setSubscriptionAttributes: Handle = async ({ input, scope }, { topics }) => {
  const value = input.text("AttributeValue") ?? "";
  await topics.setSubscriptionAttribute(
    arnOf(input.need("SubscriptionArn"), scope),
    input.need("AttributeName"),
    value,
  );
  return {};
};

const publish: Handle = async ({ input, scope }, { publisher }) => {
  const topicArn = input.text("TopicArn") ?? input.text("TargetArn");
  if (topicArn === undefined)
    throw new TopicError(
      "InvalidParameter",
      "Invalid parameter: TopicArn or TargetArn Reason: no value for required parameter",
    );
  const { messageId } = await publisher.publish({ topicArn: arnOf(topicArn, scope), ...messageOf(input) });
  return { MessageId: messageId };
};

/** Each entry on its own: those that are refused are told of beside the others. */
const publishBatch: Handle = async ({ input, scope }, { publisher }) => {
  const topicArn = arnOf(input.need("TopicArn"), scope);
  const entries = input.objects("PublishBatchRequestEntries");
  checkBatch(entries.map((entry) => entry.need("Id")));
  const [successful, failed]: [WireObject[], WireObject[]] = [[], []];
  for (const entry of entries) {
    const id = entry.need("Id");
    try {
      const { messageId } = await publisher.publish({ topicArn, ...messageOf(entry) });
      successful.push({ Id: id, MessageId: messageId });
    } catch (error) {
      if (!(error instanceof TopicError) || error.code === "NotFound") throw error;
      failed.push({ Id: id, Code: error.code, Message: error.message, SenderFault: true });
    }
  }
  return { Successful: successful, Failed: failed };
};

const tagResource: Handle = async ({ input, scope }, { topics }) => {
  const { arn, tags } = await topics.get(arnOf(input.need("ResourceArn"), scope));
  await topics.setTags(arn, { ...tags, ...tagsOf(input) });
  return {};
};

const untagResource: Handle = async ({ input, scope }, { topics }) => {
  const { arn, tags } = await topics.get(arnOf(input.need("ResourceArn"), scope));
  const removed = input.texts("TagKeys") ?? [];
  await topics.setTags(
    arn,
    Object.fromEntries(Object.entries(tags).filter(([key]) => !removed.includes(key))),
  );
  return {};
};

const listTagsForResource: Handle = async ({ input, scope }, { topics }) => {
  const { tags } = await topics.get(arnOf(input.need("ResourceArn"), scope));
  return { Tags: toTags(tags) };
};

const changePermission =
  (policyAfter: typeof withStatement): Handle =>
  async ({ input, scope }, { topics }) => {
    const topic = await topics.get(arnOf(input.need("TopicArn"), scope));
    await topics.setAttribute(topic.arn, "Policy", policyAfter(topic, input, scope));
    return {};
  };

export const sns: Service<SnsWorld> = {
  name: "sns",
  operations: {
    AddPermission: changePermission(withStatement),
    ConfirmSubscription: confirmSubscription,
    CreateTopic: createTopic,
    DeleteTopic: deleteTopic,
    GetSubscriptionAttributes: getSubscriptionAttributes,
    GetTopicAttributes: getTopicAttributes,
    ListSubscriptions: listSubscriptions,
    ListSubscriptionsByTopic: listSubscriptionsByTopic,
    ListTagsForResource: listTagsForResource,
    ListTopics: listTopics,
    Publish: publish,
    PublishBatch: publishBatch,
    RemovePermission: changePermission(withoutStatement),
    SetSubscriptionAttributes: setSubscriptionAttributes,
    SetTopicAttributes: setTopicAttributes,
    Subscribe: subscribe,
    TagResource: tagResource,
    Unsubscribe: unsubscribe,
    UntagResource: untagResource,
  },
  explain(error) {
    if (!(error instanceof TopicError)) return undefined;
    const statuses = { NotFound: 404, InvalidParameter: 400, AuthorizationError: 403 } as const;
    return new ApiError(error.code, error.message, { status: statuses[error.code] });
  },
};

/** A topic's or subscription's ARN. Those of other regions are refused; those of other accounts are nobody's secret here. */
function arnOf(arn: string, { region }: Scope): string {
  if (arn.startsWith("arn:") && arn.split(":")[3] !== region)
    throw new TopicError("InvalidParameter", "Invalid parameter: TopicArn");
  return arn;
}

function page<Item extends { readonly arn: string }>({ input }: ApiCall, items: readonly Item[]) {
  const token = input.text("NextToken");
  return pageOf(items, { keyOf: ({ arn }) => arn, size: pageSize, token, code: "InvalidParameter" });
}

function messageOf(input: Input) {
  const attributes = Object.entries(input.objectMap("MessageAttributes") ?? {}).map(
    ([name, attribute]) => [name, attributeOf(attribute)] as const,
  );
  const message = input.need("Message");
  return {
    message: input.text("MessageStructure") === "json" ? defaultOf(message) : message,
    attributes: Object.fromEntries(attributes),
    ...definedOf({ subject: input.text("Subject") }),
  };
}

/** A message that is different for each protocol: all get its default here. */
function defaultOf(message: string): string {
  const structure = parsed(message);
  const text =
    typeof structure === "object" && structure !== null ? Reflect.get(structure, "default") : undefined;
  if (typeof text === "string") return text;
  throw new TopicError(
    "InvalidParameter",
    "Invalid parameter: Message Structure - No default entry in JSON message body",
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TopicError(
      "InvalidParameter",
      "Invalid parameter: Message Structure - JSON message body failed to parse",
    );
  }
}

function attributeOf(input: Input): MessageAttribute {
  const binary = input.bytes("BinaryValue");
  return {
    type: input.need("DataType"),
    value: binary === undefined ? (input.text("StringValue") ?? "") : Buffer.from(binary).toString("base64"),
  };
}

function checkBatch(ids: readonly string[]): void {
  if (ids.length === 0)
    throw new ApiError("EmptyBatchRequest", "The batch request doesn't contain any entries.");
  if (ids.length > 10)
    throw new ApiError(
      "TooManyEntriesInBatchRequest",
      "The batch request contains more entries than permissible.",
    );
  if (new Set(ids).size < ids.length)
    throw new ApiError(
      "BatchEntryIdsNotDistinct",
      "Two or more batch entries in the request have the same Id.",
    );
}

function attributesOfTopic(
  topic: Topic,
  { scope, subscriptions }: { readonly scope: Scope; readonly subscriptions: readonly Subscription[] },
): WireObject {
  const { arn, attributes } = topic;
  const waiting = subscriptions.filter(({ status }) => status === "pending").length;
  return {
    DisplayName: "",
    ...attributes,
    Policy: policyOf(topic, scope),
    TopicArn: arn,
    Owner: scope.account,
    SubscriptionsConfirmed: String(subscriptions.length - waiting),
    SubscriptionsPending: String(waiting),
    SubscriptionsDeleted: "0",
  };
}

function toSubscription({ arn, owner, protocol, endpoint, topicArn, status }: Subscription): WireObject {
  return {
    SubscriptionArn: status === "pending" ? pending : arn,
    Owner: owner,
    Protocol: protocol,
    Endpoint: endpoint,
    TopicArn: topicArn,
  };
}

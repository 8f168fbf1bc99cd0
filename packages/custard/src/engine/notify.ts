/** Stack events for notification topics. Source: the user guide's page on stack events by SNS. */
import type { Task } from "./command.ts";
import type { Journal, Notifications } from "./ports.ts";
import { decodeRecord } from "./state-codec.ts";
import type { Stack } from "./stack.ts";
import { viewEvent } from "./view.ts";
import type { StackEvent } from "./views.ts";

const subject = "AWS CloudFormation Notification";

/** Publishes the events of some records to every topic that the stack notifies. */
export async function notify(
  ports: { readonly journal: Pick<Journal, "records">; readonly notifications: Notifications },
  stack: Stack,
  { after, until, topicArns }: Extract<Task, { kind: "notify" }>,
): Promise<void> {
  const { identity } = stack;
  const records = await ports.journal.records(identity.stackId, after, until - after);
  for (const [index, json] of records.entries()) {
    const event = viewEvent(decodeRecord(json, identity), { identity, sequence: after + index + 1 });
    if (event === undefined) continue;
    const message = formatNotification(event, identity.account);
    for (const topicArn of topicArns) await ports.notifications.publish({ topicArn, subject, message });
  }
}

/** One event as its subscribers read it: a line for each member. */
function formatNotification(event: StackEvent, account: string): string {
  const members = {
    StackId: event.stackId,
    Timestamp: new Date(event.at).toISOString(),
    EventId: event.eventId,
    LogicalResourceId: event.logicalId,
    Namespace: account,
    PhysicalResourceId: event.physicalId,
    PrincipalId: account,
    ResourceProperties: event.properties === undefined ? "null" : JSON.stringify(event.properties),
    ResourceStatus: event.status,
    ResourceStatusReason: event.reason ?? "",
    ResourceType: event.resourceType,
    StackName: event.stackName,
    ClientRequestToken: event.clientRequestToken ?? "null",
  };
  return Object.entries(members)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join("");
}

/** Stack events for local topics. */
import type { Notifications } from "../engine/ports.ts";
import { TopicError } from "./topic-error.ts";

/** Publishes to a topic as anybody may. Throws `TopicError`. */
type Publish = (message: {
  readonly topicArn: string;
  readonly subject: string;
  readonly message: string;
}) => Promise<unknown>;

/** A topic that isn't there, or doesn't take a message, misses it: that stops no stack. */
export function createNotifications(publish: Publish): Notifications {
  return {
    async publish(notification) {
      try {
        await publish(notification);
      } catch (error) {
        if (!(error instanceof TopicError)) throw error;
      }
    },
  };
}

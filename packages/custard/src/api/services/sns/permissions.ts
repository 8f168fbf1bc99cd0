/** Who may use a topic: statements in its policy, kept and shown, and asked by nobody. */
import type { Topic } from "../../../services/topic-record.ts";
import { ApiError } from "../../api-error.ts";
import type { Input } from "../../input.ts";
import type { Scope } from "../../service.ts";

interface Policy {
  readonly Statement: readonly { readonly Sid?: unknown }[];
}

/** The policy of a topic as text: its own, or the one that SNS gives to every topic. */
export function policyOf({ arn, attributes }: Topic, { account }: Scope): string {
  const own = attributes["Policy"];
  if (own !== undefined && own !== "") return own;
  const actions = [
    "GetTopicAttributes",
    "SetTopicAttributes",
    "AddPermission",
    "RemovePermission",
    "DeleteTopic",
    "Subscribe",
    "ListSubscriptionsByTopic",
    "Publish",
  ];
  return JSON.stringify({
    Version: "2008-10-17",
    Id: "__default_policy_ID",
    Statement: [
      {
        Sid: "__default_statement_ID",
        Effect: "Allow",
        Principal: { AWS: "*" },
        Action: actions.map((action) => `SNS:${action}`),
        Resource: arn,
        Condition: { StringEquals: { "AWS:SourceOwner": account } },
      },
    ],
  });
}

/** The policy with the statement that a call adds. */
export function withStatement(topic: Topic, input: Input, scope: Scope): string {
  const label = input.need("Label");
  const policy = parse(policyOf(topic, scope));
  if (policy.Statement.some(({ Sid }) => Sid === label)) throw invalid("Statement already exists");
  const accounts = input.texts("AWSAccountId") ?? [];
  const principals = accounts.map((account) => `arn:${scope.partition}:iam::${account}:root`);
  const actions = (input.texts("ActionName") ?? []).map((action) => `SNS:${action}`);
  if (principals.length === 0 || actions.length === 0)
    throw invalid("AWSAccountId and ActionName must have at least one member each");
  const statement = {
    Sid: label,
    Effect: "Allow",
    Principal: { AWS: principals.length === 1 ? principals[0] : principals },
    Action: actions.length === 1 ? actions[0] : actions,
    Resource: topic.arn,
  };
  return JSON.stringify({ ...policy, Statement: [...policy.Statement, statement] });
}

/** The policy without the statement that a call removes; one that isn't there is no matter. */
export function withoutStatement(topic: Topic, input: Input, scope: Scope): string {
  const label = input.need("Label");
  const policy = parse(policyOf(topic, scope));
  return JSON.stringify({ ...policy, Statement: policy.Statement.filter(({ Sid }) => Sid !== label) });
}

function parse(text: string): Policy {
  try {
    const value: unknown = JSON.parse(text);
    if (isPolicy(value)) return value;
  } catch {
    // Said below.
  }
  throw invalid("the policy of the topic isn't one that a statement can be added to");
}

function isPolicy(value: unknown): value is Policy {
  return (
    typeof value === "object" && value !== null && "Statement" in value && Array.isArray(value.Statement)
  );
}

function invalid(reason: string): ApiError {
  return new ApiError("InvalidParameter", `Invalid parameter: ${reason}`);
}

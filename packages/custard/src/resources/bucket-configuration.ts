/** A bucket's configuration as templates write it, in the form in which S3's API has it. */
import type { Json, JsonObject } from "@custard/provider/protocol";
import type { BucketAspect } from "../services/bucket-aspects.ts";
import { membersOf, tagsOf } from "./properties.ts";
import type { Subject } from "./subject.ts";

/**
 * Every kind of configuration that a template can give. Undefined takes away what the template gave before; what it
 * never gave is left out, and stays as S3 makes it for a new bucket.
 */
export function bucketAspectsOf(subject: Subject): readonly (readonly [BucketAspect, Json | undefined])[] {
  const { properties, task } = subject;
  const tags = Object.entries({ ...task.tags, ...tagsOf(properties["Tags"]) });
  const tagSet = { TagSet: tags.map(([Key, Value]) => ({ Key, Value })) };
  return [
    ["tagging", tags.length === 0 ? undefined : tagSet],
    ...forms
      .filter(({ property }) => property in properties || property in (task.oldProperties ?? {}))
      .map(({ property, aspect, toApi }): [BucketAspect, Json | undefined] => {
        const value = properties[property];
        return [aspect, value === undefined ? undefined : toApi(value)];
      }),
  ];
}

const forms: readonly {
  readonly property: string;
  readonly aspect: BucketAspect;
  readonly toApi: (value: Json) => Json;
}[] = [
  { property: "BucketEncryption", aspect: "encryption", toApi: encryptionOf },
  { property: "PublicAccessBlockConfiguration", aspect: "publicAccessBlock", toApi: (value) => value },
  { property: "OwnershipControls", aspect: "ownershipControls", toApi: (value) => value },
  { property: "CorsConfiguration", aspect: "cors", toApi: corsOf },
  { property: "LifecycleConfiguration", aspect: "lifecycle", toApi: lifecycleOf },
  { property: "WebsiteConfiguration", aspect: "website", toApi: websiteOf },
];

function encryptionOf(value: Json): Json {
  const rules = listOf(membersOf(value, "BucketEncryption")["ServerSideEncryptionConfiguration"]);
  return {
    Rules: rules.map((rule) => {
      const { ServerSideEncryptionByDefault: byDefault, ...others } = membersOf(rule, "BucketEncryption");
      return byDefault === undefined ? others : { ApplyServerSideEncryptionByDefault: byDefault, ...others };
    }),
  };
}

function corsOf(value: Json): Json {
  const rules = listOf(membersOf(value, "CorsConfiguration")["CorsRules"]);
  const names = { Id: "ID", MaxAge: "MaxAgeSeconds", ExposedHeaders: "ExposeHeaders" };
  return { CORSRules: rules.map((rule) => renamed(membersOf(rule, "CorsConfiguration"), names)) };
}

/** Rules keep what a template says in the API's form where that differs in the common members only. */
function lifecycleOf(value: Json): Json {
  const rules = listOf(membersOf(value, "LifecycleConfiguration")["Rules"]);
  return { Rules: rules.map((rule) => lifecycleRule(membersOf(rule, "LifecycleConfiguration"))) };
}

function lifecycleRule(rule: JsonObject): JsonObject {
  const { Id, Prefix, ExpirationInDays, ExpirationDate, NoncurrentVersionExpirationInDays, ...others } = rule;
  const expiration = {
    ...(ExpirationInDays === undefined ? {} : { Days: ExpirationInDays }),
    ...(ExpirationDate === undefined ? {} : { Date: ExpirationDate }),
  };
  return {
    ...others,
    ...(Id === undefined ? {} : { ID: Id }),
    Filter: { Prefix: Prefix ?? "" },
    ...(Object.keys(expiration).length === 0 ? {} : { Expiration: expiration }),
    ...(NoncurrentVersionExpirationInDays === undefined
      ? {}
      : { NoncurrentVersionExpiration: { NoncurrentDays: NoncurrentVersionExpirationInDays } }),
  };
}

function websiteOf(value: Json): Json {
  const { IndexDocument, ErrorDocument, ...others } = membersOf(value, "WebsiteConfiguration");
  return {
    ...others,
    ...(IndexDocument === undefined ? {} : { IndexDocument: { Suffix: IndexDocument } }),
    ...(ErrorDocument === undefined ? {} : { ErrorDocument: { Key: ErrorDocument } }),
  };
}

function renamed(members: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [names[name] ?? name, value]));
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

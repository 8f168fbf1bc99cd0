/** ECR: repositories, as records; images don't come here, so there are none. */
import { urlSuffixOf } from "@custard/provider/protocol";
import type { Json, JsonObject } from "@custard/provider/protocol";
import {
  declaredTags,
  type NamedRecord,
  objectOf,
  ownRecord,
  type Records,
  textOf,
  toDeclaredTags,
} from "../../services/records.ts";
import { ApiError } from "../api-error.ts";
import { definedOf } from "../defined.ts";
import type { Input } from "../input.ts";
import { pageOf } from "../pages.ts";
import type { Handler, Scope, Service } from "../service.ts";
import { tagsOf, toTags } from "../tags.ts";
import type { WireObject } from "../wire.ts";

/** What ECR works on. */
export interface EcrWorld {
  readonly records: Records;
  readonly now: () => number;
}

type Handle = Handler<EcrWorld>;

/** User and password. */
const registryCredentials = "AWS:custard";

const createRepository: Handle = async ({ input, scope }, { records }) => {
  const name = nameIn(input);
  if ((await records.find(placeOf(scope), name)) !== undefined)
    throw new ApiError(
      "RepositoryAlreadyExistsException",
      `The repository with name '${name}' already exists in the registry with id '${scope.account}'`,
    );
  const scanning = input.object("imageScanningConfiguration");
  const encryption = input.object("encryptionConfiguration");
  const properties: JsonObject = {
    RepositoryName: name,
    ImageTagMutability: input.text("imageTagMutability") ?? "MUTABLE",
    ImageScanningConfiguration: { ScanOnPush: scanning?.flag("scanOnPush") ?? false },
    EncryptionConfiguration: {
      EncryptionType: encryption?.text("encryptionType") ?? "AES256",
      ...definedOf({ KmsKey: encryption?.text("kmsKey") }),
    },
    ...(input.has("tags") ? { Tags: toDeclaredTags(tagsIn(input)) } : {}),
  };
  const made = await records.put(placeOf(scope), name, ownRecord(properties, {}));
  return { repository: toRepository(made, scope) };
};

const describeRepositories: Handle = async ({ input, scope }, world) => {
  const names = input.texts("repositoryNames") ?? [];
  if (names.length > 0) {
    const found = await Promise.all(names.map((name) => repositoryOf(world, scope, name)));
    return { repositories: found.map((record) => toRepository(record, scope)) };
  }
  const page = pageOf(await world.records.list(placeOf(scope)), {
    keyOf: ({ id }) => id,
    size: input.number("maxResults") ?? 100,
    token: input.text("nextToken"),
    code: "InvalidParameterException",
  });
  return {
    repositories: page.items.map((record) => toRepository(record, scope)),
    nextToken: page.next,
  };
};

const deleteRepository: Handle = async ({ input, scope }, world) => {
  const record = await repositoryOf(world, scope, input.need("repositoryName"));
  await world.records.delete(placeOf(scope), record.id);
  return { repository: toRepository(record, scope) };
};

/** For clients that ask before they push; nothing answers at the registry's own address. */
const getAuthorizationToken: Handle = async ({ scope }, { now }) => ({
  authorizationData: [
    {
      authorizationToken: Buffer.from(registryCredentials).toString("base64"),
      expiresAt: now() + 12 * 3_600_000,
      proxyEndpoint: `https://${registryOf(scope)}`,
    },
  ],
});

/** Of a repository that is there: nothing. */
const nothing =
  (answer: WireObject): Handle =>
  async ({ input, scope }, world) => {
    await repositoryOf(world, scope, input.need("repositoryName"));
    return answer;
  };

const describeImages: Handle = async ({ input, scope }, world) => {
  const { id } = await repositoryOf(world, scope, input.need("repositoryName"));
  const [wanted] = input.objects("imageIds");
  if (wanted === undefined) return { imageDetails: [] };
  const shown = `{imageDigest:'${wanted.text("imageDigest") ?? "null"}', imageTag:'${wanted.text("imageTag") ?? "null"}'}`;
  throw new ApiError(
    "ImageNotFoundException",
    `The image with imageId ${shown} does not exist within the repository with name '${id}' in the registry with id '${scope.account}'`,
  );
};

/** Each image that is asked for isn't there. */
const failures =
  (members: WireObject): Handle =>
  async ({ input, scope }, world) => {
    await repositoryOf(world, scope, input.need("repositoryName"));
    const missing = input.objects("imageIds").map((image) => ({
      imageId: definedOf({ imageDigest: image.text("imageDigest"), imageTag: image.text("imageTag") }),
      failureCode: "ImageNotFound",
      failureReason: "Requested image not found",
    }));
    return { ...members, failures: missing };
  };

const setRepositoryPolicy: Handle = async ({ input, scope }, world) => {
  const policyText = jsonIn(input, "policyText");
  const { id } = await changed(world, scope, { input, change: () => ({ RepositoryPolicyText: policyText }) });
  return { registryId: scope.account, repositoryName: id, policyText };
};

const getRepositoryPolicy: Handle = async ({ input, scope }, world) => {
  const record = await repositoryOf(world, scope, input.need("repositoryName"));
  return policyOf(record, scope);
};

const deleteRepositoryPolicy: Handle = async ({ input, scope }, world) => {
  const record = await repositoryOf(world, scope, input.need("repositoryName"));
  const answer = policyOf(record, scope);
  await changed(world, scope, { input, change: () => ({ RepositoryPolicyText: null }) });
  return answer;
};

const putLifecyclePolicy: Handle = async ({ input, scope }, world) => {
  const lifecyclePolicyText = jsonIn(input, "lifecyclePolicyText");
  const change = () => ({ LifecyclePolicy: { LifecyclePolicyText: lifecyclePolicyText } });
  const { id } = await changed(world, scope, { input, change });
  return { registryId: scope.account, repositoryName: id, lifecyclePolicyText };
};

const getLifecyclePolicy: Handle = async ({ input, scope }, world) => {
  const record = await repositoryOf(world, scope, input.need("repositoryName"));
  return lifecycleOf(record, scope);
};

const deleteLifecyclePolicy: Handle = async ({ input, scope }, world) => {
  const record = await repositoryOf(world, scope, input.need("repositoryName"));
  const answer = lifecycleOf(record, scope);
  await changed(world, scope, { input, change: () => ({ LifecyclePolicy: null }) });
  return answer;
};

const putImageTagMutability: Handle = async ({ input, scope }, world) => {
  const imageTagMutability = input.need("imageTagMutability");
  const { id } = await changed(world, scope, {
    input,
    change: () => ({ ImageTagMutability: imageTagMutability }),
  });
  return { registryId: scope.account, repositoryName: id, imageTagMutability };
};

const putImageScanningConfiguration: Handle = async ({ input, scope }, world) => {
  const scanOnPush = input.object("imageScanningConfiguration")?.flag("scanOnPush") ?? false;
  const change = () => ({ ImageScanningConfiguration: { ScanOnPush: scanOnPush } });
  const { id } = await changed(world, scope, { input, change });
  return {
    registryId: scope.account,
    repositoryName: id,
    imageScanningConfiguration: { scanOnPush },
  };
};

const tagResource: Handle = async ({ input, scope }, world) => {
  await changed(world, scope, {
    input,
    change: ({ properties }) => ({
      Tags: toDeclaredTags({ ...declaredTags(properties["Tags"]), ...tagsIn(input) }),
    }),
  });
  return {};
};

const untagResource: Handle = async ({ input, scope }, world) => {
  const removed = input.texts("tagKeys") ?? [];
  await changed(world, scope, {
    input,
    change: ({ properties }) => {
      const before = Object.entries(declaredTags(properties["Tags"]));
      return { Tags: toDeclaredTags(Object.fromEntries(before.filter(([key]) => !removed.includes(key)))) };
    },
  });
  return {};
};

const listTagsForResource: Handle = async ({ input, scope }, world) => {
  const { properties } = await repositoryOf(world, scope, repositoryIn(input));
  return { tags: toTags(declaredTags(properties["Tags"])) };
};

export const ecr: Service<EcrWorld> = {
  name: "ecr",
  operations: {
    BatchDeleteImage: failures({ imageIds: [] }),
    BatchGetImage: failures({ images: [] }),
    CreateRepository: createRepository,
    DeleteLifecyclePolicy: deleteLifecyclePolicy,
    DeleteRepository: deleteRepository,
    DeleteRepositoryPolicy: deleteRepositoryPolicy,
    DescribeImages: describeImages,
    DescribeRepositories: describeRepositories,
    GetAuthorizationToken: getAuthorizationToken,
    GetLifecyclePolicy: getLifecyclePolicy,
    GetRepositoryPolicy: getRepositoryPolicy,
    ListImages: nothing({ imageIds: [] }),
    ListTagsForResource: listTagsForResource,
    PutImageScanningConfiguration: putImageScanningConfiguration,
    PutImageTagMutability: putImageTagMutability,
    PutLifecyclePolicy: putLifecyclePolicy,
    SetRepositoryPolicy: setRepositoryPolicy,
    TagResource: tagResource,
    UntagResource: untagResource,
  },
  explain: () => undefined,
};

function toRepository({ id, properties, createdAt = 0 }: NamedRecord, scope: Scope): WireObject {
  const scanning = objectOf(properties["ImageScanningConfiguration"])["ScanOnPush"];
  const encryption = objectOf(properties["EncryptionConfiguration"]);
  return {
    repositoryArn: `arn:${scope.partition}:ecr:${scope.region}:${scope.account}:repository/${id}`,
    registryId: scope.account,
    repositoryName: id,
    repositoryUri: `${registryOf(scope)}/${id}`,
    createdAt,
    imageTagMutability: textOf(properties["ImageTagMutability"]) ?? "MUTABLE",
    imageScanningConfiguration: { scanOnPush: scanning === true || scanning === "true" },
    encryptionConfiguration: {
      encryptionType: textOf(encryption["EncryptionType"]) ?? "AES256",
      ...definedOf({ kmsKey: textOf(encryption["KmsKey"]) }),
    },
  };
}

function registryOf({ account, region, partition }: Scope): string {
  return `${account}.dkr.ecr.${region}.${urlSuffixOf(partition)}`;
}

async function repositoryOf({ records }: EcrWorld, scope: Scope, name: string): Promise<NamedRecord> {
  const found = await records.find(placeOf(scope), name);
  if (found !== undefined) return found;
  throw new ApiError(
    "RepositoryNotFoundException",
    `The repository with name '${name}' does not exist in the registry with id '${scope.account}'`,
  );
}

async function changed(
  world: EcrWorld,
  scope: Scope,
  { input, change }: { readonly input: Input; readonly change: (before: NamedRecord) => JsonObject },
): Promise<NamedRecord> {
  const before = await repositoryOf(world, scope, repositoryIn(input));
  const properties = { ...before.properties, ...change(before) };
  return await world.records.put(placeOf(scope), before.id, { ...before, properties });
}

/** By its name, or by its ARN as tags have it. */
function repositoryIn(input: Input): string {
  if (input.knows("repositoryName")) return input.need("repositoryName");
  return input.need("resourceArn").replace(/^arn:[^:]*:ecr:[^:]*:[^:]*:repository\//, "");
}

function policyOf({ id, properties }: NamedRecord, { account }: Scope): WireObject {
  const policyText = jsonText(properties["RepositoryPolicyText"]);
  if (policyText !== undefined) return { registryId: account, repositoryName: id, policyText };
  throw new ApiError(
    "RepositoryPolicyNotFoundException",
    `Repository policy does not exist for the repository with name '${id}' in the registry with id '${account}'`,
  );
}

function lifecycleOf({ id, properties }: NamedRecord, { account }: Scope): WireObject {
  const lifecyclePolicyText = jsonText(objectOf(properties["LifecyclePolicy"])["LifecyclePolicyText"]);
  if (lifecyclePolicyText !== undefined)
    return { registryId: account, repositoryName: id, lifecyclePolicyText };
  throw new ApiError(
    "LifecyclePolicyNotFoundException",
    `Lifecycle policy does not exist for the repository with name '${id}' in the registry with id '${account}'`,
  );
}

function jsonText(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function jsonIn(input: Input, member: string): string {
  const text = input.need(member);
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new ApiError(
      "InvalidParameterException",
      `Invalid parameter at '${member}' failed to satisfy constraint: 'Invalid JSON'`,
    );
  }
}

function nameIn(input: Input): string {
  const name = input.need("repositoryName");
  if (/^(?:[a-z0-9]+(?:[._-][a-z0-9]+)*\/)*[a-z0-9]+(?:[._-][a-z0-9]+)*$/.test(name) && name.length <= 256)
    return name;
  throw new ApiError(
    "InvalidParameterException",
    `Invalid parameter at 'repositoryName' failed to satisfy constraint: 'must satisfy regular expression '(?:[a-z0-9]+(?:[._-][a-z0-9]+)*/)*[a-z0-9]+(?:[._-][a-z0-9]+)*''`,
  );
}

function tagsIn(input: Input): Readonly<Record<string, string>> {
  return tagsOf(input, "tags");
}

function placeOf(scope: Scope) {
  return { ...scope, type: "AWS::ECR::Repository" };
}

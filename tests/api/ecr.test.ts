/** ECR through AWS's own client: repositories of stacks and others, as records. */
import {
  BatchGetImageCommand,
  CreateRepositoryCommand,
  DeleteRepositoryCommand,
  DescribeImagesCommand,
  DescribeRepositoriesCommand,
  ECRClient,
  GetAuthorizationTokenCommand,
  GetLifecyclePolicyCommand,
  GetRepositoryPolicyCommand,
  ImageNotFoundException,
  LifecyclePolicyNotFoundException,
  ListImagesCommand,
  ListTagsForResourceCommand,
  RepositoryAlreadyExistsException,
  RepositoryNotFoundException,
  SetRepositoryPolicyCommand,
  TagResourceCommand,
} from "@aws-sdk/client-ecr";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deploy, openTestEndpoint, settingsOf, type TestEndpoint } from "./support.ts";

let endpoint: TestEndpoint;
let ecr: ECRClient;

beforeAll(async () => {
  endpoint = await openTestEndpoint();
  ecr = new ECRClient(settingsOf(endpoint));
});

afterAll(async () => {
  ecr.destroy();
  await endpoint.close();
});

test("a stack's repository is described as it is declared", async () => {
  await deploy(
    endpoint,
    "ecr",
    `
Resources:
  Repository:
    Type: AWS::ECR::Repository
    Properties:
      RepositoryName: assets
      ImageTagMutability: IMMUTABLE
      RepositoryPolicyText: { Version: "2012-10-17" }
`,
  );
  const repositoryName = "assets";
  const { repositories } = await ecr.send(
    new DescribeRepositoriesCommand({ repositoryNames: [repositoryName] }),
  );
  expect(repositories).toMatchObject([
    {
      repositoryArn: "arn:aws:ecr:us-east-1:123456789012:repository/assets",
      repositoryUri: "123456789012.dkr.ecr.us-east-1.amazonaws.com/assets",
      imageTagMutability: "IMMUTABLE",
    },
  ]);
  expect((await ecr.send(new GetRepositoryPolicyCommand({ repositoryName }))).policyText).toBe(
    '{"Version":"2012-10-17"}',
  );
  await expect(ecr.send(new GetLifecyclePolicyCommand({ repositoryName }))).rejects.toThrow(
    LifecyclePolicyNotFoundException,
  );
  await ecr.send(new SetRepositoryPolicyCommand({ repositoryName, policyText: "{}" }));
  expect((await ecr.send(new GetRepositoryPolicyCommand({ repositoryName }))).policyText).toBe("{}");
});

test("a repository holds no images, and says so", async () => {
  const repositoryName = "mine/app";
  await ecr.send(new CreateRepositoryCommand({ repositoryName }));
  const again = ecr.send(new CreateRepositoryCommand({ repositoryName }));
  await expect(again).rejects.toThrow(RepositoryAlreadyExistsException);
  await expect(again).rejects.toThrow(
    "The repository with name 'mine/app' already exists in the registry with id '123456789012'",
  );
  expect((await ecr.send(new ListImagesCommand({ repositoryName }))).imageIds).toEqual([]);
  const imageIds = [{ imageTag: "latest" }];
  expect(await ecr.send(new BatchGetImageCommand({ repositoryName, imageIds }))).toMatchObject({
    images: [],
    failures: [{ imageId: { imageTag: "latest" }, failureCode: "ImageNotFound" }],
  });
  await expect(ecr.send(new DescribeImagesCommand({ repositoryName, imageIds }))).rejects.toThrow(
    ImageNotFoundException,
  );
  const resourceArn = "arn:aws:ecr:us-east-1:123456789012:repository/mine/app";
  await ecr.send(new TagResourceCommand({ resourceArn, tags: [{ Key: "a", Value: "b" }] }));
  expect((await ecr.send(new ListTagsForResourceCommand({ resourceArn }))).tags).toEqual([
    { Key: "a", Value: "b" },
  ]);
  await ecr.send(new DeleteRepositoryCommand({ repositoryName, force: true }));
  await expect(ecr.send(new ListImagesCommand({ repositoryName }))).rejects.toThrow(
    RepositoryNotFoundException,
  );
});

test("a registry gives credentials", async () => {
  const { authorizationData } = await ecr.send(new GetAuthorizationTokenCommand({}));
  expect(authorizationData).toMatchObject([
    { proxyEndpoint: "https://123456789012.dkr.ecr.us-east-1.amazonaws.com" },
  ]);
});

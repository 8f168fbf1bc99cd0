/** KMS through AWS's own client: keys of stacks and others, which really encrypt. */
import {
  CancelKeyDeletionCommand,
  CreateAliasCommand,
  CreateKeyCommand,
  DecryptCommand,
  DescribeKeyCommand,
  EncryptCommand,
  GenerateDataKeyCommand,
  GetKeyPolicyCommand,
  GetKeyRotationStatusCommand,
  InvalidCiphertextException,
  KMSClient,
  ListAliasesCommand,
  ListResourceTagsCommand,
  NotFoundException,
  paginateListKeys,
  ReEncryptCommand,
  ScheduleKeyDeletionCommand,
} from "@aws-sdk/client-kms";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deploy, openTestEndpoint, settingsOf, type TestEndpoint } from "./support.ts";

const Plaintext = Buffer.from("a secret");

let endpoint: TestEndpoint;
let kms: KMSClient;

beforeAll(async () => {
  endpoint = await openTestEndpoint();
  kms = new KMSClient(settingsOf(endpoint));
});

afterAll(async () => {
  kms.destroy();
  await endpoint.close();
});

test("a stack's key is found by its alias, and encrypts", async () => {
  await deploy(
    endpoint,
    "keys",
    `
Resources:
  Key:
    Type: AWS::KMS::Key
    Properties: { Description: of a stack, EnableKeyRotation: true, KeyPolicy: { Statement: [] } }
  Alias:
    Type: AWS::KMS::Alias
    Properties: { AliasName: alias/mine, TargetKeyId: !Ref Key }
`,
  );
  const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId: "alias/mine" }));
  expect(KeyMetadata).toMatchObject({
    Description: "of a stack",
    KeyState: "Enabled",
    KeyManager: "CUSTOMER",
    Arn: `arn:aws:kms:us-east-1:123456789012:key/${KeyMetadata?.KeyId}`,
  });
  const KeyId = KeyMetadata?.Arn ?? "";
  expect((await kms.send(new ListAliasesCommand({ KeyId }))).Aliases).toMatchObject([
    { AliasName: "alias/mine", TargetKeyId: KeyMetadata?.KeyId },
  ]);
  expect((await kms.send(new GetKeyPolicyCommand({ KeyId }))).Policy).toBe('{"Statement":[]}');
  expect((await kms.send(new GetKeyRotationStatusCommand({ KeyId }))).KeyRotationEnabled).toBe(true);
  const { CiphertextBlob } = await kms.send(new EncryptCommand({ KeyId: "alias/mine", Plaintext }));
  const opened = await kms.send(new DecryptCommand({ CiphertextBlob }));
  expect(opened).toMatchObject({ KeyId });
  expect(Buffer.from(opened.Plaintext ?? [])).toEqual(Plaintext);
});

test("what was encrypted with a context needs the same context, and its own key", async () => {
  const { KeyMetadata: first } = await kms.send(new CreateKeyCommand({}));
  const { KeyMetadata: second } = await kms.send(new CreateKeyCommand({}));
  const EncryptionContext = { app: "a", stage: "b" };
  const { CiphertextBlob, Plaintext: key } = await kms.send(
    new GenerateDataKeyCommand({ KeyId: first?.KeyId, KeySpec: "AES_256", EncryptionContext }),
  );
  expect(key).toHaveLength(32);
  const reversed = { stage: "b", app: "a" };
  const opened = await kms.send(new DecryptCommand({ CiphertextBlob, EncryptionContext: reversed }));
  expect(opened.Plaintext).toEqual(key);
  await expect(kms.send(new DecryptCommand({ CiphertextBlob }))).rejects.toThrow(InvalidCiphertextException);
  await expect(
    kms.send(new DecryptCommand({ CiphertextBlob, EncryptionContext, KeyId: second?.KeyId })),
  ).rejects.toMatchObject({ name: "IncorrectKeyException" });
  const moved = await kms.send(
    new ReEncryptCommand({
      CiphertextBlob,
      SourceEncryptionContext: EncryptionContext,
      DestinationKeyId: second?.KeyId,
    }),
  );
  expect((await kms.send(new DecryptCommand({ CiphertextBlob: moved.CiphertextBlob }))).Plaintext).toEqual(
    key,
  );
});

test("a key that awaits its deletion can't be used until that is called off", async () => {
  const { KeyMetadata } = await kms.send(new CreateKeyCommand({ Tags: [{ TagKey: "team", TagValue: "a" }] }));
  const KeyId = KeyMetadata?.KeyId;
  expect((await kms.send(new ListResourceTagsCommand({ KeyId }))).Tags).toEqual([
    { TagKey: "team", TagValue: "a" },
  ]);
  const scheduled = await kms.send(new ScheduleKeyDeletionCommand({ KeyId, PendingWindowInDays: 7 }));
  expect(scheduled).toMatchObject({ KeyState: "PendingDeletion", PendingWindowInDays: 7 });
  await expect(kms.send(new EncryptCommand({ KeyId, Plaintext }))).rejects.toMatchObject({
    name: "KMSInvalidStateException",
    message: `${KeyMetadata?.Arn} is pending deletion.`,
  });
  await kms.send(new CancelKeyDeletionCommand({ KeyId }));
  await expect(kms.send(new EncryptCommand({ KeyId, Plaintext }))).rejects.toMatchObject({
    name: "DisabledException",
    message: `${KeyMetadata?.Arn} is disabled.`,
  });
});

test("keys of AWS's own services are there; others that nobody made aren't", async () => {
  const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId: "alias/aws/ssm" }));
  expect(KeyMetadata?.KeyManager).toBe("AWS");
  const again = await kms.send(new DescribeKeyCommand({ KeyId: "alias/aws/ssm" }));
  expect(again.KeyMetadata?.KeyId).toBe(KeyMetadata?.KeyId);
  const missing = kms.send(new DescribeKeyCommand({ KeyId: "alias/nope" }));
  await expect(missing).rejects.toThrow(NotFoundException);
  await expect(missing).rejects.toThrow("Alias arn:aws:kms:us-east-1:123456789012:alias/nope is not found.");
  await expect(
    kms.send(new CreateAliasCommand({ AliasName: "alias/mine", TargetKeyId: KeyMetadata?.KeyId })),
  ).rejects.toMatchObject({ name: "AlreadyExistsException" });
});

test("keys are listed in pages", async () => {
  const ids = new Set<unknown>();
  for await (const { Keys = [] } of paginateListKeys({ client: kms, pageSize: 1 }, {}))
    for (const { KeyId } of Keys) ids.add(KeyId);
  expect(ids.size).toBe(5);
});

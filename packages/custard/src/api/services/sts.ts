/** STS: who calls, and credentials for others. Nobody's permissions are checked. */
import { accessKeyOf, accountOf } from "../../services/access-key.ts";
import { ApiError } from "../api-error.ts";
import type { Input } from "../input.ts";
import type { Handler, Service } from "../service.ts";
import type { WireObject } from "../wire.ts";

/** What STS works on. */
export interface StsWorld {
  /** The secret of a key that this endpoint gives out. */
  readonly secretOf: (accessKeyId: string) => string;
  readonly now: () => number;
}

type Handle = Handler<StsWorld>;

const getCallerIdentity: Handle = async ({ scope: { account, partition } }) => ({
  UserId: account,
  Account: account,
  Arn: `arn:${partition}:iam::${account}:root`,
});

/** Any role of any account may be assumed, whether or not there is a record of it. */
const assumeRole: Handle = async ({ input }, world) => {
  const roleArn = input.need("RoleArn");
  const [, partition, account, name] =
    /^arn:(aws[a-z-]*):iam::(\d{12}):role\/(?:[^:]*\/)?([\w+=,.@-]{1,64})$/.exec(roleArn) ?? [];
  if (partition === undefined || account === undefined || name === undefined)
    throw new ApiError("ValidationError", `${roleArn} is invalid`);
  const session = sessionNameOf(input);
  return {
    Credentials: credentials(account, input, world),
    AssumedRoleUser: {
      AssumedRoleId: `AROACUSTARD${account.slice(0, 10)}:${session}`,
      Arn: `arn:${partition}:sts::${account}:assumed-role/${name}/${session}`,
    },
    PackedPolicySize: 0,
  };
};

const assumeRoleWithWebIdentity: Handle = async (call, world) => {
  call.input.need("WebIdentityToken");
  return { ...(await assumeRole(call, world)), Provider: "custard" };
};

const getSessionToken: Handle = async ({ input, scope }, world) => ({
  Credentials: credentials(scope.account, input, world),
});

const getAccessKeyInfo: Handle = async ({ input, scope }) => ({
  Account: accountOf(input.need("AccessKeyId")) ?? scope.account,
});

export const sts: Service<StsWorld> = {
  name: "sts",
  operations: {
    AssumeRole: assumeRole,
    AssumeRoleWithWebIdentity: assumeRoleWithWebIdentity,
    GetAccessKeyInfo: getAccessKeyInfo,
    GetCallerIdentity: getCallerIdentity,
    GetSessionToken: getSessionToken,
  },
  explain: () => undefined,
};

function sessionNameOf(input: Input): string {
  const name = input.need("RoleSessionName");
  if (/^[\w+=,.@-]{2,64}$/.test(name)) return name;
  throw new ApiError(
    "ValidationError",
    `1 validation error detected: Value '${name}' at 'roleSessionName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\w+=,.@-]*`,
  );
}

function credentials(account: string, input: Input, { secretOf, now }: StsWorld): WireObject {
  const accessKeyId = accessKeyOf(account);
  return {
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretOf(accessKeyId),
    SessionToken: "custard",
    Expiration: now() + (input.number("DurationSeconds") ?? 3600) * 1000,
  };
}

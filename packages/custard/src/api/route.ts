/** Which service a request is for, and whose things it is about. */
import { accountOf } from "../services/access-key.ts";
import type { ServiceModel } from "./model.ts";
import { parseTarget } from "./protocols/aws-json.ts";
import { fieldOf, readForm } from "./protocols/form.ts";
import type { BufferedRequest, WireRequest } from "./wire.ts";

/** What a request's signature says, whether or not it is right. */
export interface Credential {
  readonly accessKeyId: string;
  /** `20261201` */
  readonly day: string;
  readonly region: string;
  readonly service: string;
}

/** Where a request goes. */
export interface Destination {
  readonly service: string;
  readonly region?: string;
  readonly account?: string;
  readonly credential?: Credential;
}

/** The service's name in signatures, where that isn't the one it is known by here. */
const aliases: Readonly<Record<string, string>> = { monitoring: "logs" };

/** Reads the scope of a signature, from the header or the query. */
function credentialOf({ headers, query }: WireRequest): Credential | undefined {
  const given =
    /^AWS4-HMAC-SHA256\s.*?\bCredential=([^,\s]+)/.exec(headers["authorization"] ?? "")?.[1] ??
    query.find(([name]) => name === "X-Amz-Credential")?.[1];
  const [, accessKeyId, day, region, service] =
    /^([^/]{1,128})\/(\d{8})\/([a-z0-9-]{1,32})\/([a-z0-9-]{1,32})\/aws4_request$/.exec(given ?? "") ?? [];
  if (accessKeyId === undefined || day === undefined || region === undefined || service === undefined)
    return undefined;
  return { accessKeyId, day, region, service };
}

/** By the signature; for requests that have none, by what they look like. S3 takes what is left. */
export function destinationOf(request: WireRequest, models: ReadonlyMap<string, ServiceModel>): Destination {
  const credential = credentialOf(request);
  if (credential === undefined) return { service: guess(request, models) };
  const { accessKeyId, region } = credential;
  const account = accountOf(accessKeyId);
  const service = aliases[credential.service] ?? credential.service;
  return { service, region, credential, ...(account === undefined ? {} : { account }) };
}

/** The service of an unsigned form, by its version. */
export function serviceOfForm(
  request: BufferedRequest,
  models: ReadonlyMap<string, ServiceModel>,
): string | undefined {
  const version = fieldOf(readForm(request), "Version");
  return [...models.values()].find((model) => speaksForms(model) && model.version === version)?.service;
}

function speaksForms({ protocol, forms }: ServiceModel): boolean {
  return protocol === "awsQuery" || forms === true;
}

/** Stands for a service that only the form in the body names. */
export const unknownForm = "form";

function guess(request: WireRequest, models: ReadonlyMap<string, ServiceModel>): string {
  const { method, path, headers } = request;
  const { service } = parseTarget(request);
  const byTarget = [...models.values()].find((model) => model.target === service);
  if (byTarget !== undefined) return byTarget.service;
  const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
  if (method === "POST" && path === "/" && isForm) return unknownForm;
  return /^\/20\d\d-\d\d-\d\d\//.test(path) ? "lambda" : "s3";
}

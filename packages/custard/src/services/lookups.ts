/** What templates refer to outside of their stack, from the local stores. */
import { randomUUID } from "node:crypto";
import { partitionOf } from "@custard/provider/protocol";
import type { LookupPlace, Lookups } from "../engine/ports.ts";
import { type DynamicReference, type DynamicValue, secretPart } from "../template/dynamic-references.ts";
import { ParameterError } from "./parameter-error.ts";
import type { FoundParameter, ParameterStore } from "./parameters.ts";
import { SecretError } from "./secret-error.ts";
import type { SecretStore } from "./secrets.ts";

/** The stores that are looked into. */
export interface LookupStores {
  readonly parameters: ParameterStore;
  readonly secrets: SecretStore;
}

type Of<Service extends DynamicReference["service"]> = Extract<DynamicReference, { service: Service }>;

/** Dynamic references and SSM parameter types, resolved from the local stores. */
export function createLookups(stores: LookupStores): Lookups {
  return {
    async dynamicValue(reference, place) {
      switch (reference.service) {
        case "ssm":
        case "ssm-secure":
          return await parameterValue(stores.parameters, reference, place);
        case "secretsmanager":
          return await secretValue(stores.secrets, reference, place);
      }
    },
    async ssmParameters(names, place) {
      const found = await Promise.all(names.map((name) => findParameter(stores.parameters, name, place)));
      const secure = names.filter((_, index) => found[index]?.type === "SecureString");
      if (secure.length > 0) {
        const message = `Parameters [${secure.join(",")}] referenced by template have types not supported by CloudFormation.`;
        return { kind: "failed", message };
      }
      const values = names.flatMap((name, index): [string, string][] => {
        const parameter = found[index];
        return parameter === undefined ? [] : [[name, parameter.value]];
      });
      return { kind: "values", values: new Map(values) };
    },
  };
}

async function parameterValue(
  parameters: ParameterStore,
  { service, name, version }: Of<"ssm" | "ssm-secure">,
  place: LookupPlace,
): Promise<DynamicValue> {
  const selector = version === undefined ? name : `${name}:${version}`;
  const found = await findParameter(parameters, selector, place);
  if (found === undefined) return failed(`Parameters: [${service}:${selector}] cannot be found.`);
  const isSecure = found.type === "SecureString";
  if (isSecure === (service === "ssm-secure")) return { kind: "value", value: found.value };
  return failed(
    isSecure
      ? `Non-secure reference was used for secure parameters: [${service}:${selector}]`
      : `Secure reference was used for non-secure parameters: [${service}:${selector}]`,
  );
}

async function findParameter(
  parameters: ParameterStore,
  selector: string,
  place: LookupPlace,
): Promise<FoundParameter | undefined> {
  try {
    return await parameters.get({ ...place, partition: partitionOf(place.region) }, selector);
  } catch (error) {
    if (error instanceof ParameterError) return undefined;
    throw error;
  }
}

async function secretValue(
  secrets: SecretStore,
  { secretId, versionId, versionStage, jsonKey }: Of<"secretsmanager">,
  place: LookupPlace,
): Promise<DynamicValue> {
  const scope = { ...place, partition: partitionOf(place.region) };
  try {
    const { content } = await secrets.value(scope, secretId, { versionId, stage: versionStage });
    return "text" in content
      ? secretPart(content.text, jsonKey)
      : failed(`The secret ${secretId} holds no SecretString, which a dynamic reference needs.`);
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    const { message, code } = error;
    const origin = `Service: AWSSecretsManager; Status Code: 400; Error Code: ${code}; Request ID: ${randomUUID()}; Proxy: null`;
    return failed(`${message} (${origin})`);
  }
}

function failed(message: string): DynamicValue {
  return { kind: "failed", message };
}

/** What Lambda's operations work on. */
import type { LayerRegistry } from "../../../services/layers.ts";
import {
  type FunctionReference,
  type FunctionScope,
  parseFunctionName,
} from "../../../services/function-arn.ts";
import { FunctionError } from "../../../services/function-error.ts";
import type { FunctionRegistry } from "../../../services/functions.ts";
import { ObjectError } from "../../../services/object-error.ts";
import type { S3 } from "../../../services/s3.ts";
import type { Documents, Traces } from "../../../engine/ports.ts";
import { ApiError } from "../../api-error.ts";
import type { Input } from "../../input.ts";
import type { ApiCall, Handler } from "../../service.ts";

/** Something that is seen of an invocation. */
export interface Observed {
  readonly kind: "invoked" | "log" | "returned" | "failed" | "frozen";
  readonly text: string;
}

/** A call of a function. */
export interface FunctionCall {
  readonly reference: FunctionReference;
  readonly payload: Uint8Array;
  readonly clientContext?: string;
  readonly observe?: (observed: Observed) => void;
}

/** Runs functions. */
export interface FunctionCaller {
  invoke(call: FunctionCall): Promise<{
    readonly requestId: string;
    readonly version: string;
    readonly payload: Uint8Array;
    readonly functionError?: string;
    readonly log: readonly string[];
  }>;
  invokeLater(call: FunctionCall): Promise<{ readonly requestId: string }>;
}

/** See above. */
export interface LambdaWorld {
  readonly functions: FunctionRegistry;
  readonly layers: LayerRegistry;
  readonly s3: Pick<S3, "objects">;
  readonly caller: FunctionCaller;
  readonly traces: Pick<Traces, "note">;
  readonly documents: Documents;
  readonly now: () => number;
}

export type Handle = Handler<LambdaWorld>;

/** The function that a call names, with the qualifier of its path or query. */
export function functionOf({ input, scope }: ApiCall, qualifier?: string): FunctionReference {
  const reference = functionNamed(input.need("FunctionName"), scope);
  return qualifier === undefined ? reference : { ...reference, qualifier };
}

/** The function of a name or ARN. */
export function functionNamed(name: string, scope: FunctionScope): FunctionReference {
  const reference = parseFunctionName(name, scope);
  if (reference !== undefined && reference.region !== scope.region)
    throw new FunctionError(
      "NotFound",
      `Functions from '${reference.region}' are not reachable in this region ('${scope.region}')`,
    );
  if (reference !== undefined) return reference;
  throw new ApiError(
    "ValidationException",
    `1 validation error detected: Value '${name}' at 'functionName' failed to satisfy constraint: Member must satisfy regular expression pattern: (arn:(aws[a-zA-Z-]*)?:lambda:)?([a-z]{2}(-gov)?-[a-z]+-\\d{1}:)?(\\d{12}:)?(function:)?([a-zA-Z0-9-_\\.]+)(:(\\$LATEST|[a-zA-Z0-9-_]+))?`,
  );
}

/** The bytes of a zip archive that a call gives: as they are, or in S3. */
export async function archiveOf(
  input: Input,
  scope: FunctionScope,
  { s3 }: LambdaWorld,
): Promise<Uint8Array | undefined> {
  const bytes = input.bytes("ZipFile");
  if (bytes !== undefined) return bytes;
  const [bucket, key] = [input.text("S3Bucket"), input.text("S3Key")];
  if (bucket === undefined || key === undefined) return undefined;
  try {
    const place = { partition: scope.partition, bucket, key };
    return await s3.objects.bytes(await s3.objects.find(place, input.text("S3ObjectVersion")));
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error;
    throw new FunctionError(
      "InvalidParameter",
      `Error occurred while GetObject. S3 Error Code: ${error.code}. S3 Error Message: ${error.message}`,
    );
  }
}

/** Lambda's codes for the registry's refusals. */
export function explainFunctionError(error: unknown): ApiError | undefined {
  if (!(error instanceof FunctionError)) return undefined;
  switch (error.code) {
    case "NotFound":
      return new ApiError("ResourceNotFoundException", error.message, { status: 404 });
    case "Conflict":
      return new ApiError("ResourceConflictException", error.message, { status: 409 });
    case "InvalidParameter":
      return new ApiError("InvalidParameterValueException", error.message);
  }
}

import { StackError, type StackErrorCode } from "../../../engine/stack-error.ts";
import { ApiError } from "../../api-error.ts";

/** The engine's refusals as AWS names them. The texts are AWS's already. Facts 109 to 125. */
const stackErrors = {
  StackNotFound: { code: "ValidationError", status: 400 },
  StackAlreadyExists: { code: "AlreadyExistsException", status: 400 },
  StackBusy: { code: "ValidationError", status: 400 },
  StackNotUpdatable: { code: "ValidationError", status: 400 },
  NoUpdates: { code: "ValidationError", status: 400 },
  InvalidTemplate: { code: "ValidationError", status: 400 },
  InvalidParameters: { code: "ValidationError", status: 400 },
  InvalidInput: { code: "ValidationError", status: 400 },
  TerminationProtected: { code: "ValidationError", status: 400 },
  InvalidOperation: { code: "ValidationError", status: 400 },
  InsufficientCapabilities: { code: "InsufficientCapabilitiesException", status: 400 },
  ChangeSetNotFound: { code: "ChangeSetNotFound", status: 404 },
  ChangeSetAlreadyExists: { code: "AlreadyExistsException", status: 400 },
  InvalidChangeSetStatus: { code: "InvalidChangeSetStatus", status: 400 },
  TokenAlreadyExists: { code: "TokenAlreadyExistsException", status: 400 },
  ExportInUse: { code: "ValidationError", status: 400 },
} as const satisfies Readonly<Record<StackErrorCode, { readonly code: string; readonly status: number }>>;

/** The AWS form of a refusal of the engine; undefined for anything else. */
export function explainStackError(error: unknown): ApiError | undefined {
  if (!(error instanceof StackError)) return undefined;
  const { code, status } = stackErrors[error.code];
  return new ApiError(code, error.message, { status });
}

/** What CloudFormation says of nearly everything. */
export function validationError(message: string): ApiError {
  return new ApiError("ValidationError", message);
}

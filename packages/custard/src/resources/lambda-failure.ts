import { FunctionError } from "../services/function-error.ts";
import { ResourceFailure, serviceFailure } from "./failure.ts";
import { seededUuid } from "./seeded.ts";

/** Which resource a call was for. */
interface Cause {
  readonly token: string;
  readonly type: string;
  readonly identifier: string;
}

/** Throws what Lambda's refusal becomes as a resource's reason; other errors as they are. */
export function lambdaFailure(error: unknown, cause: Cause): never {
  if (!(error instanceof FunctionError)) throw error;
  const { message } = error;
  switch (error.code) {
    case "Conflict":
      throw handlerFailure(
        `Resource of type '${cause.type}' with identifier '${cause.identifier}' already exists.`,
        cause.token,
      );
    case "NotFound":
      throw serviceFailure(
        { service: "Lambda", message, httpStatus: 404, handlerErrorCode: "NotFound" },
        cause.token,
        { cause: error },
      );
    case "InvalidParameter":
      throw serviceFailure(
        { service: "Lambda", message, httpStatus: 400, handlerErrorCode: "InvalidRequest" },
        cause.token,
        {
          cause: error,
        },
      );
  }
}

/** What a resource handler itself says, without a service behind it; most often that a name is taken. */
export function handlerFailure(
  message: string,
  token: string,
  code: "AlreadyExists" | "InvalidRequest" = "AlreadyExists",
): ResourceFailure {
  const requestToken = seededUuid(`handler-request:${token}`);
  return new ResourceFailure(
    `Resource handler returned message: "${message}" (RequestToken: ${requestToken}, HandlerErrorCode: ${code})`,
  );
}

/** What is gone needs no deleting: the function may have gone first, or this is a repetition. */
export async function ignoreMissing(deletion: Promise<void>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!(error instanceof FunctionError && error.code === "NotFound")) throw error;
  }
}

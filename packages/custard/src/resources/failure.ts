import { seededUuid } from "./seeded.ts";

/** A resource can't be made, changed or deleted. The message is the reason that the user sees, in AWS's words. */
export class ResourceFailure extends Error {
  override readonly name = "ResourceFailure";
}

/** What a service says, in the frame that CloudFormation's resource handlers put around it. */
export interface ServiceRefusal {
  readonly service: string;
  readonly message: string;
  readonly httpStatus: number;
  readonly handlerErrorCode: "InvalidRequest" | "NotFound" | "AlreadyExists" | "GeneralServiceException";
}

/** `Resource handler returned message: "…"`; the ids in it are made from the task's token. */
export function serviceFailure(
  refusal: ServiceRefusal,
  token: string,
  options?: ErrorOptions,
): ResourceFailure {
  const { service, message, httpStatus, handlerErrorCode } = refusal;
  const requestId = seededUuid(`service-request:${token}`);
  const requestToken = seededUuid(`handler-request:${token}`);
  return new ResourceFailure(
    `Resource handler returned message: "${message} (Service: ${service}, Status Code: ${httpStatus}, Request ID: ${requestId})" ` +
      `(RequestToken: ${requestToken}, HandlerErrorCode: ${handlerErrorCode})`,
    options,
  );
}

/** A name is in use. Source of the wording: CloudFormation's own for names that a stack's resource holds. */
export function alreadyExists(name: string, stackId: string): ResourceFailure {
  return new ResourceFailure(`${name} already exists in stack ${stackId}`);
}

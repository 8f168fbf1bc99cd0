/** Refusals on their way from the server to the command line: both have the same classes. */
import { StackError, type StackErrorCode } from "../engine/stack-error.ts";
import { FunctionError, type FunctionErrorCode } from "../services/function-error.ts";
import { ParameterError, type ParameterErrorCode } from "../services/parameter-error.ts";
import { SecretError, type SecretErrorCode } from "../services/secret-error.ts";
import { TopicError, type TopicErrorCode } from "../services/topic-error.ts";
import { TransportError, type TransportErrorCode } from "../transports/lambda/transport-error.ts";
import { RemoteError } from "./remote-error.ts";

/** An error on the wire. */
export interface ErrorLine {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

// Casts, as a code that the server of the same version sends is one of the class's own.
const makers: Readonly<Record<string, (code: string, message: string) => Error>> = {
  StackError: (code, message) => new StackError(code as StackErrorCode, message),
  FunctionError: (code, message) => new FunctionError(code as FunctionErrorCode, message),
  TopicError: (code, message) => new TopicError(code as TopicErrorCode, message),
  ParameterError: (code, message) => new ParameterError(code as ParameterErrorCode, message),
  SecretError: (code, message) => new SecretError(code as SecretErrorCode, message),
  TransportError: (code, message) => new TransportError(code as TransportErrorCode, message),
};

/** A refusal for the wire. Undefined for what is none: trouble, or a bug, which are for the server's own log. */
export function encodeError(error: unknown): ErrorLine | undefined {
  if (!(error instanceof Error) || !Object.hasOwn(makers, error.name)) return undefined;
  const code: unknown = Reflect.get(error, "code");
  return { name: error.name, code: String(code), message: error.message };
}

/** The refusal that was sent. */
export function decodeError({ name, code, message }: ErrorLine): Error {
  const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
  return make === undefined ? new RemoteError("ServerFailed", message) : make(code, message);
}

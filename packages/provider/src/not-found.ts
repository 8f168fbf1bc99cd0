/** Throw it when what a resource stands for isn't there (any more). On Delete that is success. */
export class NotFound extends Error {
  override readonly name = "NotFound";
}

/**
 * Does an error say that something isn't there: `NotFound` itself, or an AWS error, by its name (`NoSuchBucket`,
 * `ResourceNotFoundException`, `QueueDoesNotExist` …) or its 404?
 */
export function isNotFound(error: unknown): boolean {
  const { name, $metadata } = Object(error) as { name?: unknown; $metadata?: unknown };
  const isNamed = /NotFound|NoSuch|DoesNotExist|NonExistent/u.test(String(name));
  return isNamed || (Object($metadata) as { httpStatusCode?: unknown }).httpStatusCode === 404;
}

/** The same for errors of HTTP clients and of the older AWS SDK. */
export function isHttpNotFound(error: unknown): boolean {
  const { status, statusCode } = Object(error) as { status?: unknown; statusCode?: unknown };
  return status === 404 || statusCode === 404;
}

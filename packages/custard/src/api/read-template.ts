/** Templates and policies that lie in the local S3, by their URLs. */
import type { Templates } from "../engine/ports.ts";
import { parseS3Url } from "../services/s3-location.ts";
import { ApiError } from "./api-error.ts";
import type { Scope } from "./service.ts";

/** The text that a URL names in the local S3. Throws `ApiError`: callers may not have files read. */
export async function readTemplate(templates: Templates, url: string, scope: Scope): Promise<string> {
  // Fact 121.
  if (parseS3Url(url) === undefined)
    throw new ApiError("ValidationError", "TemplateURL must be a supported URL.");
  const read = await templates.read({ url, ...scope });
  if (read.kind === "read") return read.body;
  throw new ApiError("ValidationError", read.reason);
}

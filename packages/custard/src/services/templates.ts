/** Where templates of nested stacks come from: the local S3, and files beside their parent's template. */
import { dirname, isAbsolute, resolve } from "node:path";
import { partitionOf } from "@custard/provider/protocol";
import type { Templates } from "../engine/ports.ts";
import { ObjectError } from "./object-error.ts";
import { readRegular } from "./read-regular.ts";
import { parseS3Url } from "./s3-location.ts";
import type { S3 } from "./s3.ts";

type Read = Awaited<ReturnType<Templates["read"]>>;

/** Bytes of a template by URL. Source: CloudFormation's quotas. */
const templateBytes = 1_048_576;

/** Reads templates by URL of S3, and by path as `aws cloudformation package` takes it. */
export function createTemplates(s3: S3): Templates {
  return {
    async read({ url, region, directory }) {
      const isPath = !/^[a-z][a-z0-9+.-]*:\/\//i.test(url);
      return isPath ? await readPath(url, directory) : await readObject(s3, url, partitionOf(region));
    },
  };
}

async function readPath(path: string, directory: string | undefined): Promise<Read> {
  if (directory === undefined && !isAbsolute(path)) return failed("TemplateURL must be a supported URL.");
  const file = resolve(directory ?? "", path);
  const bytes = await readRegular(file).catch((error: NodeJS.ErrnoException) => error);
  if (bytes instanceof Error) {
    if (bytes.code === "ENOENT") return failed(`There is no template ${file}, which TemplateURL names.`);
    return failed(`The template ${file} can't be read: ${bytes.message}`);
  }
  return textOf(bytes, { directory: dirname(file) });
}

async function readObject(s3: S3, url: string, partition: string): Promise<Read> {
  const location = parseS3Url(url);
  // Fact 121.
  if (location === undefined) return failed("TemplateURL must be a supported URL.");
  try {
    const found = await s3.objects.find({ partition, ...location });
    return found.content.size > templateBytes ? tooLarge() : textOf(await s3.objects.bytes(found), {});
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error;
    return failed(
      `S3 error: ${error.message}\nFor more information check http://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html`,
    );
  }
}

function textOf(bytes: Uint8Array, from: { readonly directory?: string }): Read {
  if (bytes.length > templateBytes) return tooLarge();
  return { kind: "read", body: Buffer.from(bytes).toString("utf8"), ...from };
}

function tooLarge(): Read {
  return failed(`Template may not exceed ${templateBytes} bytes in size.`);
}

function failed(reason: string): Read {
  return { kind: "failed", reason };
}

import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Json } from "@custard/provider/protocol";
import { zipSync } from "fflate";
import type { CodeInput } from "../services/function-record.ts";
import { ObjectError } from "../services/object-error.ts";
import { readRegular } from "../services/read-regular.ts";
import type { S3 } from "../services/s3.ts";
import { ResourceFailure, serviceFailure } from "./failure.ts";
import { type Subject, toText } from "./subject.ts";

/** Where code is written in a resource, and where it may come from. */
export interface CodeSource {
  readonly property: "Code" | "Content";
  readonly s3: S3;
}

/**
 * What a function's `Code` or a layer's `Content` stands for: inline source (`ZipFile`), an object of the local S3, or
 * a path of a zip file, folder or single source file, as `aws cloudformation package` takes it, relative to the
 * template.
 */
export async function readCode(subject: Subject, { property, s3 }: CodeSource): Promise<CodeInput> {
  const code = subject.properties[property];
  const path = toText(code);
  if (path !== undefined) return await readPath(path, subject);
  const source = toText(memberOf(code, "ZipFile"));
  if (source !== undefined) return { kind: "inline", source };
  const bucket = toText(memberOf(code, "S3Bucket"));
  if (bucket === undefined) throw new ResourceFailure(whyNot(code, subject));
  const versionId = toText(memberOf(code, "S3ObjectVersion"));
  const key = toText(memberOf(code, "S3Key")) ?? "";
  return { kind: "zip", bytes: await readObject({ subject, s3, versionId }, { bucket, key }) };
}

function whyNot(code: Json | undefined, { task }: Subject): string {
  if (memberOf(code, "ImageUri") !== undefined) {
    return `The code of ${task.logicalId} is a container image, and Custard runs none. Give ZipFile, or the path of a zip file or folder as Code.`;
  }
  return "Please provide a source for function code.";
}

async function readObject(
  { subject, s3, versionId }: { subject: Subject; s3: S3; versionId: string | undefined },
  { bucket, key }: { readonly bucket: string; readonly key: string },
): Promise<Uint8Array> {
  const { partition, token } = subject.task;
  try {
    const found = await s3.objects.find({ partition, bucket, key }, versionId);
    return await s3.objects.bytes(found);
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error;
    throw serviceFailure(
      {
        service: "Lambda",
        message: `Error occurred while GetObject. S3 Error Code: ${error.code}. S3 Error Message: ${error.message}`,
        httpStatus: 400,
        handlerErrorCode: "InvalidRequest",
      },
      token,
      { cause: error },
    );
  }
}

async function readPath(path: string, { task }: Subject): Promise<CodeInput> {
  const absolute = resolve(task.directory ?? "", path);
  if (task.directory === undefined && absolute !== path) {
    throw new ResourceFailure(`The code path ${path} is relative, but the template didn't come from a file.`);
  }
  const found = await stat(absolute).catch(() => undefined);
  if (found === undefined)
    throw new ResourceFailure(`There is no file or folder ${absolute} for the code of ${task.logicalId}.`);
  if (found.isDirectory()) return { kind: "directory", path: absolute };
  const bytes = await readRegular(absolute).catch((cause: unknown) => {
    throw new ResourceFailure(`${absolute} can't be read for the code of ${task.logicalId}.`, { cause });
  });
  return { kind: "zip", bytes: isZip(bytes) ? bytes : zipOf(absolute, bytes) };
}

/** Zip files start with the signature of a local file header, or, when empty, of the end of the directory. */
function isZip(bytes: Uint8Array): boolean {
  const [first, second, third] = bytes;
  return first === 0x50 && second === 0x4b && (third === 3 || third === 5);
}

function zipOf(path: string, bytes: Uint8Array): Uint8Array {
  return zipSync({ [basename(path)]: bytes });
}

function memberOf(code: Json | undefined, name: string): Json | undefined {
  if (typeof code !== "object" || code === null || Array.isArray(code)) return undefined;
  return Object.hasOwn(code, name) ? (Reflect.get(code, name) as Json) : undefined;
}

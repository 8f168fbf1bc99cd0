/** Templates of nested stacks: in the local S3, or in files beside the parent's template. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { partitionOf } from "@custard/provider/protocol";
import type { Templates } from "../engine/ports.ts";
import { ObjectError } from "./object-error.ts";
import type { ObjectPlace } from "./object-record.ts";
import type { ObjectStore } from "./objects.ts";

type Read = Awaited<ReturnType<Templates["read"]>>;

/** Source: a failed nested stack's recorded reason. */
const moreAbout =
  "For more information check http://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html";

/** Reads what a `TemplateURL` names. */
export function createTemplates(objects: Pick<ObjectStore, "find" | "bytes">): Templates {
  return {
    read({ url, region, directory }) {
      if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(url)) return readBeside(url, directory);
      const place = parseObjectUrl(url);
      return place === undefined
        ? Promise.resolve(failed("TemplateURL must be a supported URL."))
        : readObject(objects, { ...place, partition: partitionOf(region) });
    },
  };
}

const host = /^(?:(?<bucket>.+)\.)?s3(?:[.-][a-z0-9-]+)?\.amazonaws\.com(?:\.cn)?$/;

/** Bucket and key of an S3 URL, in each of its forms; undefined when it is none. */
export function parseObjectUrl(url: string): Pick<ObjectPlace, "bucket" | "key"> | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, pathname } = new URL(url);
  const path = decoded(pathname.slice(1));
  if (path === undefined) return undefined;
  if (protocol === "s3:") return placed(hostname, path);
  const found = protocol === "https:" ? host.exec(hostname) : null;
  if (found === null) return undefined;
  const bucket = found.groups?.["bucket"];
  if (bucket !== undefined) return placed(bucket, path);
  const slash = path.indexOf("/");
  return slash < 0 ? undefined : placed(path.slice(0, slash), path.slice(slash + 1));
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function placed(bucket: string, key: string): { bucket: string; key: string } | undefined {
  return bucket === "" || key === "" ? undefined : { bucket, key };
}

async function readBeside(path: string, directory: string | undefined): Promise<Read> {
  if (directory === undefined)
    return failed(`TemplateURL ${path} is a path, and the parent's template came from no file to start at.`);
  const file = resolve(directory, path);
  try {
    return { kind: "read", body: await readFile(file, "utf8"), directory: dirname(file) };
  } catch (error) {
    if (isAbsent(error)) return failed(`TemplateURL ${path} names no file: there is no ${file}.`);
    throw error;
  }
}

async function readObject(objects: Pick<ObjectStore, "find" | "bytes">, place: ObjectPlace): Promise<Read> {
  try {
    const bytes = await objects.bytes(await objects.find(place));
    return { kind: "read", body: new TextDecoder().decode(bytes) };
  } catch (error) {
    if (error instanceof ObjectError) return failed(`S3 error: ${error.message}\n${moreAbout}`);
    throw error;
  }
}

function failed(reason: string): Read {
  return { kind: "failed", reason };
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EISDIR");
}

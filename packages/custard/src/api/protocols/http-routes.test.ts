import { expect, test } from "vitest";
import { loadModel } from "../model.ts";
import { restJson } from "./rest-json.ts";
import { restXml } from "./rest-xml.ts";

const s3 = loadModel("s3");
const lambda = loadModel("lambda");

function request(method: string, target: string, headers: Readonly<Record<string, string>> = {}) {
  const [path = "", query = ""] = target.split("?");
  const pairs = query === "" ? [] : query.split("&").map((part) => part.split("=") as [string, string?]);
  return {
    method,
    path,
    query: pairs.map(([name, value = ""]) => [name, value] as const),
    headers,
    body: new Uint8Array(),
  };
}

test.each([
  { method: "GET", target: "/", operation: "ListBuckets" },
  { method: "PUT", target: "/b/", operation: "CreateBucket" },
  { method: "HEAD", target: "/b", operation: "HeadBucket" },
  { method: "GET", target: "/b?list-type=2&prefix=a", operation: "ListObjectsV2" },
  { method: "GET", target: "/b?location", operation: "GetBucketLocation" },
  { method: "GET", target: "/b", operation: "ListObjects" },
  { method: "GET", target: "/b/k", operation: "GetObject" },
  { method: "GET", target: "/b/k?uploadId=1", operation: "ListParts" },
  { method: "PUT", target: "/b/k?x-id=PutObject", operation: "PutObject" },
  { method: "PUT", target: "/b/k?partNumber=1&uploadId=2", operation: "UploadPart" },
  { method: "POST", target: "/b/k?uploads", operation: "CreateMultipartUpload" },
  { method: "POST", target: "/b/k?uploadId=1", operation: "CompleteMultipartUpload" },
  { method: "POST", target: "/b?delete", operation: "DeleteObjects" },
])("S3: $method $target is $operation", ({ method, target, operation }) => {
  expect(restXml.address(s3, request(method, target)).operation.name).toBe(operation);
});

test("S3: keys keep their slashes", () => {
  expect(restXml.address(s3, request("GET", "/b/a%2Fb//c/")).labels).toEqual({ Bucket: "b", Key: "a/b//c/" });
});

test("S3: the source makes a put a copy", () => {
  const copying = { "x-amz-copy-source": "a/b" };
  expect(restXml.address(s3, request("PUT", "/b/k", copying)).operation.name).toBe("CopyObject");
});

test("S3: the bucket may stand in the host's name", () => {
  const { labels } = restXml.address(s3, request("GET", "/k", { host: "my.bucket.localhost:4566" }));
  expect(labels).toEqual({ Bucket: "my.bucket", Key: "k" });
});

test.each([
  { method: "POST", target: "/2015-03-31/functions/f/invocations", operation: "Invoke" },
  { method: "GET", target: "/2015-03-31/functions/", operation: "ListFunctions" },
  { method: "GET", target: "/2018-10-31/layers?find=LayerVersion&Arn=a", operation: "GetLayerVersionByArn" },
  { method: "GET", target: "/2018-10-31/layers", operation: "ListLayers" },
])("Lambda: $method $target is $operation", ({ method, target, operation }) => {
  expect(restJson.address(lambda, request(method, target)).operation.name).toBe(operation);
});

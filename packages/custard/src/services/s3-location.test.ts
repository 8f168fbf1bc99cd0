import { expect, test } from "vitest";
import { bucketInHost, parseS3Url } from "./s3-location.ts";

test.each([
  { url: "https://my-bucket.s3.us-east-1.amazonaws.com/a/b.yaml", bucket: "my-bucket", key: "a/b.yaml" },
  { url: "https://my.bucket.s3.amazonaws.com/a%20b.yaml", bucket: "my.bucket", key: "a b.yaml" },
  { url: "https://s3.eu-west-1.amazonaws.com/my-bucket/a/b.yaml", bucket: "my-bucket", key: "a/b.yaml" },
  { url: "https://s3-eu-west-1.amazonaws.com/my-bucket/b.yaml", bucket: "my-bucket", key: "b.yaml" },
  { url: "https://my-bucket.s3.cn-north-1.amazonaws.com.cn/b.yaml", bucket: "my-bucket", key: "b.yaml" },
  { url: "http://127.0.0.1:4566/my-bucket/b.yaml", bucket: "my-bucket", key: "b.yaml" },
  { url: "http://my-bucket.localhost:4566/b.yaml", bucket: "my-bucket", key: "b.yaml" },
  { url: "s3://my-bucket/a/b.yaml", bucket: "my-bucket", key: "a/b.yaml" },
])("$url is $key in $bucket", ({ url, ...location }) => expect(parseS3Url(url)).toEqual(location));

test.each([
  "child.yaml",
  "ftp://my-bucket/b.yaml",
  "https://my-bucket.s3.amazonaws.com/",
  "https://s3.amazonaws.com/my-bucket",
  "https://my-bucket.s3.amazonaws.com/%E0%A4%A",
])("%s is no object", (url) => expect(parseS3Url(url)).toBeUndefined());

test.each([
  { host: "s3.localhost", bucket: undefined },
  { host: "my-bucket.s3.localhost", bucket: "my-bucket" },
  { host: "127.0.0.1", bucket: undefined },
  { host: "my-bucket.s3.dualstack.eu-west-1.amazonaws.com", bucket: "my-bucket" },
])("the bucket in $host is $bucket", ({ host, bucket }) => expect(bucketInHost(host)).toBe(bucket));

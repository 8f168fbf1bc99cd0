import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSigningKeys, presign, verifySignature } from "./sign.ts";
import type { SignatureStyle, SignTarget, SignedRequest, Verification } from "./sign.ts";

const keys = createSigningKeys("a secret of the tests");
const issuedAt = Date.UTC(2026, 11, 1, 12);
const host = "cloudformation-custom-resource-response-useast1.s3.amazonaws.com";
const target: SignTarget = {
  style: "v4",
  method: "PUT",
  host,
  key: "arn:aws:cloudformation:us-east-1:123456789012:stack/shop/51af3dc0|Table|c0ffee",
  region: "us-east-1",
  issuedAt,
  lifetimeSeconds: 7200,
};
const styles: SignatureStyle[] = ["v4", "v2"];

function put(url: string, changes: Partial<SignedRequest> = {}): Verification {
  const { hostname, pathname, search } = new URL(url);
  const request = { method: "PUT", host: hostname, target: pathname + search, headers: {}, now: issuedAt };
  return verifySignature(keys, { ...request, ...changes });
}

function codeOf(verification: Verification): string {
  return verification.ok ? "accepted" : `${verification.error.code}: ${verification.error.message}`;
}

test("a secret that can be guessed is refused", () => {
  expect(() => createSigningKeys("short")).toThrow(RangeError);
});

describe.each(styles)("style %s", (style) => {
  const url = presign(keys, { ...target, style });

  test("its own URL is accepted, until the end of its time", () => {
    expect(put(url)).toEqual({ ok: true, key: target.key });
    expect(put(url, { now: issuedAt + 7_200_000 })).toEqual({ ok: true, key: target.key });
    const late = put(url, { now: issuedAt + 7_201_000 });
    expect(codeOf(late)).toBe("AccessDenied: Request has expired");
    expect(late).toMatchObject({ error: { details: { Expires: "2026-12-01T14:00:00Z" } } });
  });

  test("the same keys sign the same URL after a restart, others another", () => {
    expect(presign(createSigningKeys("a secret of the tests"), { ...target, style })).toBe(url);
    expect(presign(createSigningKeys("another secret of tests"), { ...target, style })).not.toBe(url);
  });

  test.each(["GET", "HEAD", "DELETE"])("%s is refused", (method) => {
    expect(put(url, { method })).toMatchObject({ error: { code: "SignatureDoesNotMatch", status: 403 } });
  });

  test("a URL for another host is refused", () => {
    expect(
      put(url, { host: "cloudformation-custom-resource-response-uswest2.s3-us-west-2.amazonaws.com" }),
    ).toMatchObject({ error: { code: "SignatureDoesNotMatch" } });
  });

  test("a sender may encode less than we do", () => {
    const loose = decodeURIComponent(url.split("?")[0] ?? "").replace(`https://${host}`, "");
    expect(put(url, { target: `${loose}?${url.split("?")[1]}` })).toMatchObject({ ok: true });
  });

  test("whatever byte is changed, it is refused", () => {
    const text = url.slice(`https://${host}`.length);
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.integer({ min: 33, max: 126 }), (index, code) => {
        const changed = `${text.slice(0, index)}${String.fromCharCode(code)}${text.slice(index + 1)}`;
        fc.pre(meaningOf(changed) !== meaningOf(text));
        expect(put(url, { target: changed }).ok).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test("neither secret nor signature stands in a refusal", () => {
    const refused = JSON.stringify(put(url, { method: "GET" }));
    const signature = new URL(url).searchParams.get(style === "v4" ? "X-Amz-Signature" : "Signature");
    expect(refused).not.toContain(signature);
    expect(refused).not.toContain(keys.secretAccessKey);
  });
});

describe("style v4", () => {
  const url = presign(keys, target);
  const digest = "x-amz-content-sha256";

  test("the oracle signs the same, and what it signs is accepted", async () => {
    const signer = new SignatureV4({
      service: "s3",
      region: "us-east-1",
      credentials: { accessKeyId: keys.accessKeyId, secretAccessKey: keys.secretAccessKey },
      sha256: NodeSha256,
      uriEscapePath: false,
    });
    await fc.assert(
      fc.asyncProperty(
        fc
          .string({ unit: "grapheme", minLength: 1 })
          .filter((key) => !key.startsWith("/") && !key.includes("\u0000")),
        fc.integer({ min: 0, max: 4_000_000_000 }),
        fc.integer({ min: 1, max: 604_800 }),
        async (key, seconds, lifetimeSeconds) => {
          const ours = presign(keys, { ...target, key, issuedAt: seconds * 1000, lifetimeSeconds });
          // Not through URL, which resolves the segments "." and ".." of a key.
          const path = ours.slice(`https://${host}`.length).split("?", 1)[0] ?? "";
          const signed = await signer.presign(
            {
              method: "PUT",
              protocol: "https:",
              hostname: host,
              path,
              query: {},
              headers: { host, [digest]: "UNSIGNED-PAYLOAD" },
            },
            {
              signingDate: new Date(seconds * 1000),
              expiresIn: lifetimeSeconds,
              unhoistableHeaders: new Set([digest]),
              unsignableHeaders: new Set([digest]),
            },
          );
          const query = Object.entries(signed.query ?? {}).map(
            ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
          );
          expect(Object.fromEntries(new URL(ours).searchParams)).toEqual(signed.query);
          expect(put(ours, { target: `${path}?${query.join("&")}`, now: seconds * 1000 })).toEqual({
            ok: true,
            key,
          });
        },
      ),
      {
        numRuns: 200,
        examples: [
          [".", 0, 1],
          ["a/../b", 0, 1],
        ],
      },
    );
  });

  test.each([
    ["x-amz-acl", "AccessDenied: There were headers present in the request which were not signed"],
    ["x-amz-content-sha256", "accepted"],
    ["content-type", "accepted"],
    ["x-custom", "accepted"],
    [
      "authorization",
      "InvalidArgument: Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified",
    ],
  ])("a header %s that isn't signed: %s", (name, expected) => {
    expect(codeOf(put(url, { headers: { [name]: "private" } }))).toBe(expected);
  });

  test.each([
    { fault: "no query", change: () => "", code: "AccessDenied", status: 403 },
    {
      fault: "no signature",
      change: (query: string) => query.replace(/&X-Amz-Signature=.*/u, ""),
      code: "AuthorizationQueryParametersError",
      status: 400,
    },
    {
      fault: "another algorithm",
      change: (query: string) => query.replace("SHA256", "SHA512"),
      code: "AuthorizationQueryParametersError",
      status: 400,
    },
    {
      fault: "a date in another form",
      change: (query: string) => query.replace(/Date=\d{8}T/u, "Date=20261201"),
      code: "AuthorizationQueryParametersError",
      status: 400,
    },
    {
      fault: "another day in the credential",
      change: (query: string) => query.replace(/%2F\d{8}%2F/u, "%2F20200101%2F"),
      code: "AuthorizationQueryParametersError",
      status: 400,
    },
    {
      fault: "a lifetime of over a week",
      change: (query: string) => query.replace("=7200", "=604801"),
      code: "AuthorizationQueryParametersError",
      status: 400,
    },
    {
      fault: "a lifetime that is no number",
      change: (query: string) => query.replace("=7200", "=2h"),
      code: "AuthorizationQueryParametersError",
      status: 400,
    },
    {
      fault: "host that isn't signed",
      change: (query: string) => query.replace("=host", "=date"),
      code: "AccessDenied",
      status: 403,
    },
    {
      fault: "a stranger's key",
      change: (query: string) => query.replace(/AKIA\w+/u, "AKIAIOSFODNN7EXAMPLE"),
      code: "InvalidAccessKeyId",
      status: 403,
    },
    {
      fault: "a longer lifetime",
      change: (query: string) => query.replace("=7200", "=7201"),
      code: "SignatureDoesNotMatch",
      status: 403,
    },
    {
      fault: "a parameter more",
      change: (query: string) => `${query}&x-id=PutObject`,
      code: "SignatureDoesNotMatch",
      status: 403,
    },
    { fault: "a broken escape", change: (query: string) => `${query}%`, code: "InvalidURI", status: 400 },
  ])("$fault: $code", ({ change, code, status }) => {
    const [path = "", query = ""] = url.slice(`https://${host}`.length).split("?");
    expect(put(url, { target: `${path}?${change(query)}` })).toMatchObject({
      ok: false,
      error: { code, status },
    });
  });
});

describe("style v2", () => {
  const url = presign(keys, { ...target, style: "v2" });

  test.each([
    ["content-type", "application/json", false],
    ["content-type", "", true],
    ["content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==", false],
    ["x-amz-acl", "private", false],
  ])("%s %j accepted: %s", (name, value, ok) => {
    expect(put(url, { headers: { [name]: value } }).ok).toBe(ok);
  });

  test("a missing parameter is named", () => {
    const [path = "", query = ""] = url.slice(`https://${host}`.length).split("?");
    expect(codeOf(put(url, { target: `${path}?${query.replace(/&Expires=\d+/u, "")}` }))).toBe(
      "AccessDenied: Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters",
    );
  });
});

/** What a target says, whichever way it is escaped. */
function meaningOf(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The oracle's hash, on Node's. */
class NodeSha256 {
  readonly #key: Uint8Array | string | undefined;
  #parts: Buffer[] = [];

  constructor(key?: Uint8Array | ArrayBuffer | ArrayBufferView | string) {
    this.#key = key as Uint8Array | string | undefined;
  }

  update(data: Uint8Array | ArrayBuffer | ArrayBufferView | string): void {
    this.#parts.push(Buffer.from(data as Uint8Array));
  }

  digest(): Promise<Uint8Array> {
    const hash = this.#key === undefined ? createHash("sha256") : createHmac("sha256", this.#key);
    return Promise.resolve(new Uint8Array(hash.update(Buffer.concat(this.#parts)).digest()));
  }

  reset(): void {
    this.#parts = [];
  }
}

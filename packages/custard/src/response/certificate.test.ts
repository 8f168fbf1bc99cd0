import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../../tests/support/state-directory.ts";
import { openCertificate } from "./certificate.ts";
import { issueSigningCertificate } from "./issue-certificate.ts";

const now = Date.UTC(2026, 11, 1);
const day = 86_400_000;
const hosts = ["localhost", "127.0.0.1", "cloudformation-custom-resource-response-useast1.s3.amazonaws.com"];

function contents(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "utf8")]),
  );
}

test("a second start issues nothing", async () => {
  const directory = temporaryDirectory();
  await openCertificate({ directory, hosts, now });
  const first = contents(directory);
  await openCertificate({ directory, hosts, now: now + 365 * day });
  expect(contents(directory)).toEqual(first);
});

test("the server's certificate holds its hosts, and the authority vouches for it", async () => {
  const certificate = await openCertificate({ directory: temporaryDirectory(), hosts, now });
  const authority = new X509Certificate(readFileSync(certificate.caFile));
  const server = new X509Certificate(certificate.fallback.cert);
  expect(server.verify(authority.publicKey)).toBe(true);
  expect(server.checkIssued(authority)).toBe(true);
  expect([authority.ca, server.ca]).toEqual([true, false]);
  expect(server.checkHost("localhost")).toBe("localhost");
  expect(server.checkIP("127.0.0.1")).toBe("127.0.0.1");
  expect(server.checkHost("s3.amazonaws.com")).toBeUndefined();
});

test("keys are for their owner only", async () => {
  const directory = temporaryDirectory();
  await openCertificate({ directory: join(directory, "tls"), hosts, now });
  expect(statSync(join(directory, "tls")).mode & 0o777).toBe(0o700);
  const modes = readdirSync(join(directory, "tls")).map(
    (name) => statSync(join(directory, "tls", name)).mode & 0o077,
  );
  expect(modes.every((mode) => mode === 0)).toBe(true);
});

test("the bundle holds our authority beside the system's", async () => {
  const { bundleFile, caFile } = await openCertificate({ directory: temporaryDirectory(), hosts, now });
  const bundle = readFileSync(bundleFile, "utf8");
  expect(bundle).toContain(readFileSync(caFile, "utf8").trim());
  expect(bundle.split("BEGIN CERTIFICATE").length).toBeGreaterThan(20);
});

test("a server certificate that ends soon is issued anew, by the same authority", async () => {
  const directory = temporaryDirectory();
  const first = await openCertificate({ directory, hosts, now });
  const authority = readFileSync(first.caFile, "utf8");
  const later = await openCertificate({ directory, hosts, now: now + 775 * day });
  expect(later.fallback.cert).not.toBe(first.fallback.cert);
  expect(readFileSync(later.caFile, "utf8")).toBe(authority);
});

test.each(["ca-key.pem", "server-localhost-key.pem"])("a damaged %s is replaced", async (name) => {
  const directory = temporaryDirectory();
  await openCertificate({ directory, hosts, now });
  const kept = readFileSync(join(directory, name), "utf8");
  writeFileSync(join(directory, name), kept.replace(/(?<=CERTIFICATE-----\n.{20}).{20}/u, "A".repeat(20)));
  const { fallback, caFile } = await openCertificate({ directory, hosts, now });
  expect(new X509Certificate(fallback.cert).verify(new X509Certificate(readFileSync(caFile)).publicKey)).toBe(
    true,
  );
});

test("a host more is issued for when it is asked for, and kept", async () => {
  const directory = temporaryDirectory();
  const certificate = await openCertificate({ directory, hosts, now });
  await certificate.contextFor("sns.us-east-1.amazonaws.com");
  const kept = contents(directory);
  expect(kept).toHaveProperty(["server-sns.us-east-1.amazonaws.com.pem"]);
  await (await openCertificate({ directory, hosts, now })).contextFor("sns.us-east-1.amazonaws.com");
  expect(contents(directory)).toEqual(kept);
});

test.each(["example.com", "amazonaws.com.example.com", "notamazonaws.com", "../ca.localhost.evil"])(
  "there is no certificate for %s",
  async (host) => {
    const certificate = await openCertificate({ directory: temporaryDirectory(), hosts, now });
    await expect(certificate.contextFor(host)).rejects.toThrow("there is no certificate");
  },
);

test("a signing certificate vouches for its own RSA key", () => {
  const { certificate, key } = issueSigningCertificate("sns.amazonaws.com", {
    from: Date.UTC(2026, 0, 1),
    until: Date.UTC(2027, 0, 1),
  });
  const parsed = new X509Certificate(certificate);
  expect(parsed.subject).toBe("CN=sns.amazonaws.com");
  expect(parsed.publicKey.asymmetricKeyType).toBe("rsa");
  expect(parsed.verify(parsed.publicKey)).toBe(true);
  expect(parsed.checkPrivateKey(createPrivateKey(key))).toBe(true);
});

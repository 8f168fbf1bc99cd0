/**
 * The certificates of the response endpoint: an authority of this state directory, and below it server certificates
 * that are issued when a host is first asked for. Both are kept, so a second start issues nothing.
 *
 * C1: the authority's key never leaves its directory (mode 0600); it is installed in no store of the system.
 * C2: the authority can vouch for AWS's and local names only (name constraints), so a leaked key forges nothing else.
 */
import { X509Certificate } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSecureContext, rootCertificates } from "node:tls";
import type { SecureContext } from "node:tls";
import { urlSuffixes } from "@custard/provider/protocol";
import type { KeyPair } from "./issue-certificate.ts";

/** What the endpoint and its clients need for TLS. */
export interface Certificate {
  /** PEM file: the authority alone, for clients that add it to what they trust. */
  readonly caFile: string;
  /** PEM file: the system's authorities and ours, for clients whose setting replaces what they trust. */
  readonly bundleFile: string;
  /** For clients that name no host: certificate and key (PEM) for the hosts given at the opening. */
  readonly fallback: { readonly cert: string; readonly key: string };
  /** What proves that we are `host`; issued when there is none yet. Rejects for hosts outside C2. */
  contextFor(host: string): Promise<SecureContext>;
}

const authorityName = "Custard local authority";
/** The name constraints (C2): everything below these. */
const domains = [...urlSuffixes, "localhost"];
const day = 86_400_000;
const authorityDays = 3650;
/** Apple's clients accept no server certificate that is valid for longer than 825 days. */
const serverDays = 800;
/** What ends within this time is issued anew at the start. */
const renewalDays = 30;
/** Clocks of other systems may be behind. */
const backdatedDays = 1;

/** More than all regions' response hosts and services of ours. */
const maxHosts = 500;

const systemBundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
] as const;

/** Where a directory's authority is, or will be. */
export function certificateFiles(directory: string): Pick<Certificate, "caFile" | "bundleFile"> {
  return { caFile: join(directory, "ca.pem"), bundleFile: join(directory, "bundle.pem") };
}

/**
 * Opens the certificates of a directory, and makes them when there are none, or when they are damaged or end soon.
 * `hosts` are those that will be asked for first; they share one certificate.
 */
export async function openCertificate(options: {
  readonly directory: string;
  readonly hosts: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}): Promise<Certificate> {
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  const authority = await openAuthority(options);
  const contexts = new Map<string, Promise<SecureContext>>();
  const first = await openServerCertificate({ ...options, authority });
  const firstContext = Promise.resolve(toContext(first));
  for (const host of options.hosts) contexts.set(host, firstContext);
  return {
    ...certificateFiles(options.directory),
    fallback: { cert: first.certificate, key: first.key },
    contextFor(host) {
      if (!isPermitted(host)) return Promise.reject(new Error(`there is no certificate for ${host}`));
      const found = contexts.get(host);
      if (found !== undefined) return found;
      // Whoever can connect can ask for names, so their number is bounded.
      if (contexts.size >= maxHosts)
        return Promise.reject(new Error("there are certificates for too many hosts"));
      const opened = openServerCertificate({ ...options, authority, hosts: [host] }).then(toContext);
      contexts.set(host, opened);
      opened.catch(() => contexts.delete(host));
      return opened;
    },
  };
}

interface Store {
  readonly directory: string;
  readonly now: number;
}

async function openAuthority(store: Store): Promise<KeyPair> {
  const kept = await readPair(store.directory, "ca");
  if (kept !== undefined && isUsable(kept, store.now)) return kept;
  const { issueAuthority } = await import("./issue-certificate.ts");
  const made = issueAuthority({
    name: authorityName,
    domains,
    lifetime: lifetimeOf(store.now, authorityDays),
  });
  const roots = await systemAuthorities();
  await writeSecret(join(store.directory, "bundle.pem"), `${roots.trimEnd()}\n${made.certificate}`);
  await writePair(store.directory, "ca", made);
  return made;
}

async function openServerCertificate(
  store: Store & { readonly authority: KeyPair; readonly hosts: readonly string[] },
): Promise<KeyPair> {
  const name = `server-${fileNameOf(store.hosts[0] ?? "localhost")}`;
  const kept = await readPair(store.directory, name);
  if (kept !== undefined && isUsable(kept, store.now) && serves(kept, store)) return kept;
  const { issueServerCertificate } = await import("./issue-certificate.ts");
  const authority = { ...store.authority, name: authorityName };
  const made = issueServerCertificate(authority, store.hosts, lifetimeOf(store.now, serverDays));
  await writePair(store.directory, name, made);
  return made;
}

function serves(
  pair: KeyPair,
  wanted: { readonly authority: KeyPair; readonly hosts: readonly string[] },
): boolean {
  const certificate = new X509Certificate(pair.certificate);
  const authority = new X509Certificate(wanted.authority.certificate);
  if (!certificate.verify(authority.publicKey)) return false;
  return wanted.hosts.every(
    (host) => (certificate.checkHost(host) ?? certificate.checkIP(host)) !== undefined,
  );
}

function isUsable(pair: KeyPair, now: number): boolean {
  try {
    const certificate = new X509Certificate(pair.certificate);
    return (
      Date.parse(certificate.validFrom) <= now && Date.parse(certificate.validTo) > now + renewalDays * day
    );
  } catch {
    // A damaged file is replaced.
    return false;
  }
}

function lifetimeOf(now: number, days: number): { from: number; until: number } {
  return { from: now - backdatedDays * day, until: now + days * day };
}

function isPermitted(host: string): boolean {
  return domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
}

function toContext(pair: KeyPair): SecureContext {
  return createSecureContext({ cert: pair.certificate, key: pair.key, minVersion: "TLSv1.2" });
}

/** Certificate and key are one file, so that they always fit each other. */
async function readPair(directory: string, name: string): Promise<KeyPair | undefined> {
  const text = await readIfThere(join(directory, `${name}-key.pem`));
  const [, certificate, key] =
    /^(-----BEGIN CERT.+?-----END CERTIFICATE-----\n)(-----BEGIN PRIV.+)$/su.exec(text) ?? [];
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

async function writePair(directory: string, name: string, pair: KeyPair): Promise<void> {
  await writeSecret(join(directory, `${name}.pem`), pair.certificate);
  await writeSecret(join(directory, `${name}-key.pem`), pair.certificate + pair.key);
}

/** Written beside and renamed, so that a crash leaves no half file. */
async function writeSecret(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return "";
  }
}

/** What the system trusts; Node's own list where the system has none. */
async function systemAuthorities(): Promise<string> {
  for (const file of systemBundles) {
    const text = await readIfThere(file);
    if (text !== "") return text;
  }
  return rootCertificates.join("\n");
}

function fileNameOf(host: string): string {
  return host.replace(/[^a-z0-9.-]/gu, "_");
}

/**
 * Writes X.509 certificates. The only file that loads the ASN.1 library (some 50 ms), so it is itself loaded only
 * when something must be issued: at the first start in a directory, or for a host that wasn't known before.
 */
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { isIPv4 } from "node:net";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  Extension,
  Extensions,
  ExtendedKeyUsage,
  GeneralName,
  GeneralSubtree,
  GeneralSubtrees,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  NameConstraints,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from "@peculiar/asn1-x509";

/** A certificate with its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** From when until when a certificate is valid, in milliseconds since the epoch. */
export interface Lifetime {
  readonly from: number;
  readonly until: number;
}

const ecdsaWithSha256 = new AlgorithmIdentifier({ algorithm: "1.2.840.10045.4.3.2" });
const rsaWithSha256 = new AlgorithmIdentifier({ algorithm: "1.2.840.113549.1.1.11", parameters: null });
const commonName = "2.5.4.3";

/** A certificate authority that can vouch for names below `domains` and for 127.0.0.0/8, and for nothing else. */
export function issueAuthority(options: {
  readonly name: string;
  readonly domains: readonly string[];
  readonly lifetime: Lifetime;
}): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const permitted = [
    ...options.domains.map((domain) => new GeneralName({ dNSName: domain })),
    new GeneralName({ iPAddress: "127.0.0.0/8" }),
  ];
  const constraints = new NameConstraints({
    permittedSubtrees: new GeneralSubtrees(permitted.map((base) => new GeneralSubtree({ base }))),
  });
  const certificate = writeCertificate({
    subject: options.name,
    issuer: options.name,
    publicKey,
    signingKey: privateKey,
    lifetime: options.lifetime,
    extensions: [
      extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: true, pathLenConstraint: 0 })),
      extension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.keyCertSign)),
      extension(id_ce_nameConstraints, true, constraints),
    ],
  });
  return { certificate, key: toPem(privateKey) };
}

/** A server certificate for `hosts` (names, or IPv4 addresses), signed by the authority. */
export function issueServerCertificate(
  authority: KeyPair & { readonly name: string },
  hosts: readonly string[],
  lifetime: Lifetime,
): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const names = hosts.map((host) => new GeneralName(isIPv4(host) ? { iPAddress: host } : { dNSName: host }));
  const certificate = writeCertificate({
    // A common name holds at most 64 characters; clients read the alternative names only.
    subject: "Custard",
    issuer: authority.name,
    publicKey,
    signingKey: authority.key,
    lifetime,
    extensions: [
      extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: false })),
      extension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.digitalSignature)),
      extension(id_ce_extKeyUsage, false, new ExtendedKeyUsage([id_kp_serverAuth])),
      extension(id_ce_subjectAltName, false, new SubjectAlternativeName(names)),
    ],
  });
  return { certificate, key: toPem(privateKey) };
}

/** A certificate that vouches for nothing but its own RSA key: what a service signs messages with. */
export function issueSigningCertificate(name: string, lifetime: Lifetime): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const certificate = writeCertificate({
    subject: name,
    issuer: name,
    publicKey,
    signingKey: privateKey,
    lifetime,
    extensions: [
      extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: false })),
      extension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.digitalSignature)),
    ],
  });
  return { certificate, key: toPem(privateKey) };
}

interface Contents {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  /** Of the issuer. */
  readonly signingKey: KeyObject | string;
  readonly lifetime: Lifetime;
  readonly extensions: readonly Extension[];
}

function writeCertificate(contents: Contents): string {
  const issuerPublicKey = createPublicKey(contents.signingKey);
  const algorithm = issuerPublicKey.asymmetricKeyType === "rsa" ? rsaWithSha256 : ecdsaWithSha256;
  const subjectKey = contents.publicKey.export({ type: "spki", format: "der" });
  const issuerKey = issuerPublicKey.export({ type: "spki", format: "der" });
  const body = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialNumber(),
    signature: algorithm,
    issuer: nameOf(contents.issuer),
    validity: new Validity({
      notBefore: new Date(contents.lifetime.from),
      notAfter: new Date(contents.lifetime.until),
    }),
    subject: nameOf(contents.subject),
    subjectPublicKeyInfo: AsnConvert.parse(subjectKey, SubjectPublicKeyInfo),
    extensions: new Extensions([
      ...contents.extensions,
      extension(id_ce_subjectKeyIdentifier, false, new SubjectKeyIdentifier(keyIdentifier(subjectKey))),
      extension(
        id_ce_authorityKeyIdentifier,
        false,
        new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(keyIdentifier(issuerKey)) }),
      ),
    ]),
  });
  const signature = sign("sha256", Buffer.from(AsnConvert.serialize(body)), contents.signingKey);
  const certificate = new Certificate({
    tbsCertificate: body,
    signatureAlgorithm: algorithm,
    signatureValue: toArrayBuffer(signature),
  });
  const lines =
    Buffer.from(AsnConvert.serialize(certificate))
      .toString("base64")
      .match(/.{1,64}/gu) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function extension(extnID: string, critical: boolean, value: object): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function nameOf(text: string): Name {
  const value = new AttributeValue({ utf8String: text });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: commonName, value })])]);
}

/** Positive, and at most 20 bytes. */
function serialNumber(): ArrayBuffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return toArrayBuffer(bytes);
}

/** Of RFC 5280's kind, but over the whole key info: any value that is the same in both certificates serves. */
function keyIdentifier(keyInfo: Buffer): ArrayBuffer {
  return toArrayBuffer(createHash("sha1").update(keyInfo).digest());
}

function toPem(key: KeyObject): string {
  return String(key.export({ type: "pkcs8", format: "pem" }));
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

import { expect, test } from "vitest";
import { type ChecksumAlgorithm, checksumOf } from "./checksums.ts";

// The check values that each algorithm's catalogue entry gives for these nine characters.
const catalogue: readonly { algorithm: ChecksumAlgorithm; hex: string }[] = [
  { algorithm: "CRC32", hex: "cbf43926" },
  { algorithm: "CRC32C", hex: "e3069283" },
  { algorithm: "CRC64NVME", hex: "ae8b14860a799888" },
  { algorithm: "SHA1", hex: "f7c3bc1d808e04732adf679965ccc34ca7ae3441" },
  { algorithm: "SHA256", hex: "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225" },
];

test.each(catalogue)("$algorithm of 123456789", ({ algorithm, hex }) => {
  expect(checksumOf(algorithm, Buffer.from("123456789"))).toBe(Buffer.from(hex, "hex").toString("base64"));
});

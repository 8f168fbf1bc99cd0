/** The checksums that S3's clients send with a body, computed as the body passes by. Base64 of big-endian bytes. */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

/** Names as in S3's `x-amz-checksum-<name>`, in capitals. */
export const checksumAlgorithms = ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"] as const;

export type ChecksumAlgorithm = (typeof checksumAlgorithms)[number];

/** Checksums by algorithm. */
export type Checksums = Readonly<Partial<Record<ChecksumAlgorithm, string>>>;

/** A checksum in the making. */
export interface RunningChecksum {
  update(bytes: Uint8Array): void;
  digest(): Buffer;
}

export function startChecksum(algorithm: ChecksumAlgorithm): RunningChecksum {
  switch (algorithm) {
    case "CRC32":
      return runningCrc32();
    case "CRC32C":
      return runningCrc32c();
    case "CRC64NVME":
      return runningCrc64();
    case "SHA1":
      return createHash("sha1");
    case "SHA256":
      return createHash("sha256");
  }
}

/** The checksum of bytes at hand. */
export function checksumOf(algorithm: ChecksumAlgorithm, bytes: Uint8Array): string {
  const running = startChecksum(algorithm);
  running.update(bytes);
  return running.digest().toString("base64");
}

function runningCrc32(): RunningChecksum {
  let value = 0;
  return {
    update(bytes) {
      value = crc32(bytes, value);
    },
    digest: () => fourBytes(value),
  };
}

function runningCrc32c(): RunningChecksum {
  let value = 0xffffffff;
  return {
    update(bytes) {
      for (const byte of bytes) value = (crc32cTable()[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8);
    },
    digest: () => fourBytes((value ^ 0xffffffff) >>> 0),
  };
}

function runningCrc64(): RunningChecksum {
  // Two halves of 32 bits: arithmetic on BigInt is a hundred times slower.
  let high = 0xffffffff;
  let low = 0xffffffff;
  return {
    update(bytes) {
      const table = crc64Table();
      for (const byte of bytes) {
        const index = ((low ^ byte) & 0xff) * 2;
        const shifted = ((low >>> 8) | (high << 24)) ^ (table[index + 1] ?? 0);
        high = (high >>> 8) ^ (table[index] ?? 0);
        low = shifted;
      }
    },
    digest: () => Buffer.concat([fourBytes(~high >>> 0), fourBytes(~low >>> 0)]),
  };
}

function fourBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

/** Castagnoli's polynomial, bits reversed. */
const castagnoli = 0x82f63b78;
/** The NVMe specification's 64-bit polynomial, bits reversed. */
const nvme = 0x9a6c9329ac4bc9b5n;

const crc32cTable = once(() =>
  Uint32Array.from({ length: 256 }, (_, byte) =>
    eightTimes(byte, (value) => ((value & 1) === 1 ? (value >>> 1) ^ castagnoli : value >>> 1) >>> 0),
  ),
);

/** High and low halves in turn. */
const crc64Table = once(() =>
  Uint32Array.from(
    Array.from({ length: 256 }, (_, byte) =>
      eightTimes(BigInt(byte), (value) => ((value & 1n) === 1n ? (value >> 1n) ^ nvme : value >> 1n)),
    ).flatMap((value) => [Number(value >> 32n), Number(value & 0xffffffffn)]),
  ),
);

function eightTimes<T>(start: T, step: (value: T) => T): T {
  let value = start;
  for (let round = 0; round < 8; round += 1) value = step(value);
  return value;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

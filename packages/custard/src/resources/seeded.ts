/** Texts that look random and are the same for the same seed, so that a repeated task gives the same result. */
import { createHash } from "node:crypto";

/** Sets of characters that AWS makes ids from. */
export const alphabets = {
  hex: "0123456789abcdef",
  lower: "abcdefghijklmnopqrstuvwxyz0123456789",
  upper: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
  mixed: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
  /** IAM's and STS's: base 32. */
  base32: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
} as const;

/** `length` characters of an alphabet; at most 64. */
export function seededText(seed: string, alphabet: keyof typeof alphabets, length: number): string {
  const characters = alphabets[alphabet];
  const bytes = createHash("sha512").update(seed).digest().subarray(0, length);
  return Array.from(bytes, (byte) => characters.charAt(byte % characters.length)).join("");
}

/** A UUID of version 4. */
export function seededUuid(seed: string): string {
  const hex = seededText(seed, "hex", 32);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${"89ab".charAt(Number.parseInt(hex.charAt(16), 16) % 4)}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join("-");
}

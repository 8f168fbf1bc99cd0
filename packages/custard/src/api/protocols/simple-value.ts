/** Simple values between the wire's texts and ours. Throws `ApiError`. */
import { malformed } from "../api-error.ts";
import type { SimpleRef } from "../model.ts";
import type { WireValue } from "../wire.ts";

/** A text of a form, a header, a query, a path or of XML. */
export function parseText(ref: SimpleRef, text: string): WireValue {
  switch (ref) {
    case "string":
      return text;
    case "number":
      return parseNumber(text);
    case "boolean":
      return parseBoolean(text);
    case "timestamp":
    case "date-time":
    case "http-date":
    case "epoch-seconds":
      return parseTime(text);
    case "blob":
    case "stream":
      return Buffer.from(text, "base64");
    case "document":
    case "events":
    case "unit":
      throw malformed("A value stands where none is taken.");
  }
}

/** The same the other way. */
export function formatText(ref: SimpleRef, value: WireValue): string {
  switch (ref) {
    case "string":
    case "number":
    case "boolean":
      return formatPlain(value);
    case "timestamp":
    case "date-time":
      return new Date(numberOf(value)).toISOString();
    case "http-date":
      return new Date(numberOf(value)).toUTCString();
    case "epoch-seconds":
      return String(numberOf(value) / 1000);
    case "blob":
    case "stream":
      return Buffer.from(bytesOf(value)).toString("base64");
    case "document":
    case "events":
    case "unit":
      throw new Error(`A value of kind ${ref} can't be written as text.`);
  }
}

/** Milliseconds, from a time in whatever form AWS takes: ISO 8601, an HTTP date, seconds since the epoch. */
export function parseTime(text: string): number {
  const seconds = /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  if (Number.isFinite(seconds) && Math.abs(seconds) <= 8.64e15) return seconds;
  throw malformed(`"${shortened(text)}" is no time.`);
}

export function numberOf(value: WireValue): number {
  if (typeof value === "number") return value;
  throw new Error("A number was to be written, and something else came.");
}

export function bytesOf(value: WireValue): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new Error("Bytes were to be written, and something else came.");
}

/** A text for a message: not more of it than one can take in. */
function shortened(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}

function formatPlain(value: WireValue): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return String(value);
  throw new Error("A simple value was to be written, and something else came.");
}

function parseNumber(text: string): number {
  const value = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value)) return value;
  throw malformed(`"${shortened(text)}" is no number.`);
}

function parseBoolean(text: string): boolean {
  const value = text.toLowerCase();
  if (value === "true" || value === "false") return value === "true";
  throw malformed(`"${shortened(text)}" is neither true nor false.`);
}

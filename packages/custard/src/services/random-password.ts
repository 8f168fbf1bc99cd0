import { randomInt } from "node:crypto";
import { SecretError } from "./secret-error.ts";

/** What a password is to be like; names and defaults are GetRandomPassword's. */
export interface PasswordRules {
  /** 1 to 4096; default 32. */
  readonly length?: number;
  readonly excludeCharacters?: string;
  readonly excludeNumbers?: boolean;
  readonly excludePunctuation?: boolean;
  readonly excludeUppercase?: boolean;
  readonly excludeLowercase?: boolean;
  readonly includeSpace?: boolean;
  /** At least one of each kind that isn't excluded; default true. */
  readonly requireEachIncludedType?: boolean;
}

const kinds = {
  lowercase: "abcdefghijklmnopqrstuvwxyz",
  uppercase: "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
  numbers: "0123456789",
  punctuation: "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
} as const;

/** A password that nobody can guess. Throws `SecretError` when the rules leave no character, or no room. */
export function randomPassword(rules: PasswordRules = {}): string {
  const { length = 32, requireEachIncludedType = true } = rules;
  if (!Number.isInteger(length) || length < 1 || length > 4096)
    throw refused(
      "Value at 'passwordLength' failed to satisfy constraint: Member must be between 1 and 4096",
    );
  const sets = setsOf(rules);
  const all = sets.join("");
  if (all === "") throw refused("The password can't be generated: every character is excluded.");
  const required = requireEachIncludedType ? sets.map(pick) : [];
  if (required.length > length)
    throw refused("The password length is too short to hold at least one of each included character type.");
  const rest = Array.from({ length: length - required.length }, () => pick(all));
  return shuffled([...required, ...rest]).join("");
}

function setsOf(rules: PasswordRules): readonly string[] {
  const excluded = rules.excludeCharacters ?? "";
  return [
    rules.excludeLowercase === true ? "" : kinds.lowercase,
    rules.excludeUppercase === true ? "" : kinds.uppercase,
    rules.excludeNumbers === true ? "" : kinds.numbers,
    rules.excludePunctuation === true ? "" : kinds.punctuation,
    rules.includeSpace === true ? " " : "",
  ]
    .map((set) =>
      set
        .split("")
        .filter((character) => !excluded.includes(character))
        .join(""),
    )
    .filter((set) => set !== "");
}

function pick(characters: string): string {
  return characters.charAt(randomInt(characters.length));
}

/** Fisher and Yates: each order is as likely as any other. */
function shuffled(characters: readonly string[]): readonly string[] {
  const result = [...characters];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = randomInt(last + 1);
    const [a = "", b = ""] = [result[last], result[other]];
    result[last] = b;
    result[other] = a;
  }
  return result;
}

function refused(message: string): SecretError {
  return new SecretError("InvalidParameterException", message);
}

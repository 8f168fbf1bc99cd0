/** What SSM demands of a parameter's name, value and labels. Source: PutParameter's and LabelParameterVersion's references. */
import { ParameterError } from "./parameter-error.ts";

export const parameterTypes = ["String", "StringList", "SecureString"] as const;
export type ParameterType = (typeof parameterTypes)[number];

export const parameterTiers = ["Standard", "Advanced", "Intelligent-Tiering"] as const;
export type ParameterTier = (typeof parameterTiers)[number];

const deepest = 15;
const longestName = 1011;
/** Characters. */
const largest = { Standard: 4096, Advanced: 8192 } as const;
const longestLabel = 100;

/** Throws `ParameterError` unless a parameter may be called so. */
export function checkParameterName(name: string): void {
  if (name.length > longestName)
    throw invalid(`Parameter name must be at most ${longestName} characters long, including the path.`);
  if (!/^[\w./-]+$/.test(name) || /\/\/|\/$/.test(name) || /^\/?ssm/i.test(name)) {
    throw invalid(
      'Parameter name: can\'t be prefixed with "ssm" (case-insensitive). If formed as a path, it can consist of sub-paths divided by slash symbol; each sub-path can be formed as a mix of letters, numbers and the following 3 symbols .-_',
    );
  }
  if (name.includes("/") && !name.startsWith("/"))
    throw invalid("Parameter name must be a fully qualified name.");
  if (name.split("/").length - 1 > deepest)
    throw new ParameterError(
      "HierarchyLevelLimitExceededException",
      `Maximum number of parameter levels is ${deepest}.`,
    );
}

/** Is the name one of AWS's own? Nobody but AWS puts those. */
export function isReserved(name: string): boolean {
  return /^\/?aws(?:\/|$)/i.test(name);
}

export function checkParameterPath(path: string): void {
  if (path.startsWith("/") && /^[\w./-]+$/.test(path)) return;
  throw invalid(
    'The parameter doesn\'t meet the parameter name requirements. The parameter name must begin with a forward slash "/". It can\'t be prefixed with "aws" or "ssm" (case-insensitive). It must use only letters, numbers, or the following symbols: . (period), - (hyphen), _ (underscore). Special characters are not allowed. All sub-paths, if specified, must use the forward slash symbol "/". Valid example: /get/parameters2-/by1./path0_.',
  );
}

/** The tier that a value needs, or a refusal. */
export function tierFor(value: string, wanted: ParameterTier): ParameterTier {
  if (value === "")
    throw invalid(
      "1 validation error detected: Value '' at 'value' failed to satisfy constraint: Member must have length greater than or equal to 1.",
    );
  if (wanted !== "Advanced" && value.length <= largest.Standard)
    return wanted === "Standard" ? wanted : "Standard";
  if (wanted === "Standard") {
    throw invalid(
      "Standard tier parameters support a maximum parameter value of 4096 characters. To create a larger parameter value, upgrade the parameter to use the advanced-parameter tier. For more information, see https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html",
    );
  }
  if (value.length > largest.Advanced)
    throw invalid("Advanced tier parameters support a maximum parameter value of 8192 characters.");
  return "Advanced";
}

export function checkAllowedPattern(value: string, allowedPattern: string | undefined): void {
  if (allowedPattern === undefined || allowedPattern === "") return;
  if (!matches(value, allowedPattern))
    throw new ParameterError(
      "ParameterPatternMismatchException",
      `Parameter value, cannot be validated against allowedPattern: ${allowedPattern}`,
    );
}

function matches(value: string, allowedPattern: string): boolean {
  try {
    return new RegExp(`^(?:${allowedPattern})$`).test(value);
  } catch {
    throw new ParameterError(
      "ParameterPatternMismatchException",
      `The regular expression ${allowedPattern} is invalid.`,
    );
  }
}

/** Labels that SSM doesn't take; it puts the others all the same. */
export function invalidLabels(labels: readonly string[]): readonly string[] {
  return labels.filter(
    (label) => label.length > longestLabel || !/^[\w.-]+$/.test(label) || /^(?:\d|aws|ssm)/i.test(label),
  );
}

export function typeOf(text: string): ParameterType {
  const type = parameterTypes.find((each) => each === text);
  if (type !== undefined) return type;
  throw invalid(
    `1 validation error detected: Value '${text}' at 'type' failed to satisfy constraint: Member must satisfy enum value set: [SecureString, StringList, String]`,
  );
}

export function invalid(message: string): ParameterError {
  return new ParameterError("ValidationException", message);
}

import { urlSuffixes } from "../protocol/arn.ts";

/** Is this an https URL on a host of SNS, in any partition? */
export function isSnsUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.protocol !== "https:" || url.port !== "" || url.username !== "") return false;
  const [service, region, ...rest] = url.hostname.split(".");
  return service === "sns" && /^[a-z0-9-]{3,}$/u.test(region ?? "") && urlSuffixes.includes(rest.join("."));
}

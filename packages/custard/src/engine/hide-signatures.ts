/**
 * A text of a provider's without the signatures of pre-signed URLs: providers like to print their event, and to send
 * what they caught, with the response URL in it. Both of S3's styles are known, also with an escaped `=`.
 */
export function hideSignatures(text: string): string {
  return text.replace(/((?:X-Amz-)?Signature(?:=|%3D))[^&\s"'\\]+/giu, "$1*****");
}

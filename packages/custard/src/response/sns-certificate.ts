const day = 86_400_000;
const validDays = 3650;

/** What SNS signs with here. The library that writes certificates is loaded only then. */
export async function issueSnsCertificate() {
  const { issueSigningCertificate } = await import("./issue-certificate.ts");
  const now = Date.now();
  return issueSigningCertificate("sns.amazonaws.com", { from: now - day, until: now + validDays * day });
}

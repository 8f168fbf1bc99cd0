const table: readonly { readonly reason: RegExp; readonly status?: string; readonly advice: string }[] = [
  {
    reason: /^Received response status \[FAILED\]/,
    advice: "The provider answered FAILED itself: look for the cause in its message and log lines.",
  },
  {
    reason: /^CloudFormation did not receive a response/,
    advice:
      "The provider never answered: make sure that every path through it, errors too, sends a response and waits until it is sent.",
  },
  {
    reason: /^Response object is too long/,
    advice: "A response has at most 4096 bytes: put less into Data or Reason.",
  },
  {
    reason: /^Invalid PhysicalResourceId/,
    advice: "Every response, FAILED ones too, needs a PhysicalResourceId of 1 to 1024 bytes.",
  },
  {
    reason: /Vendor response doesn't contain/,
    advice:
      "Fn::GetAtt asks for an attribute that the provider's last answer does not have in its Data: compare the two names.",
  },
  {
    reason: /^Modifying service token is not allowed/,
    advice:
      "Put the old ServiceToken back, or give the resource a new logical id so that it is created anew.",
  },
  {
    reason: /Function not found/,
    status: "DELETE_FAILED",
    advice:
      "Its function is gone, so nobody can answer: delete with --retain and the resource's logical id to give it up.",
  },
  {
    reason: /Function not found/,
    advice:
      "ServiceToken names a function that does not exist: compare it with the functions of your stacks.",
  },
  { reason: /ServiceTimeout/, advice: "ServiceTimeout is a whole number of seconds from 1 to 3600." },
];

/** One sentence on what to do about a failed resource when its trace holds no better one. */
export function adviceFor(reason: string, status: string): string {
  const found = table.find((entry) => entry.reason.test(reason) && (entry.status ?? status) === status);
  return found?.advice ?? "Put right what the reason names, then deploy again.";
}

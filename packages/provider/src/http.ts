// The public entry `@custard/provider/http`: a provider that is an HTTP(S) subscriber of an SNS topic.
export { snsListener, type SnsListener, type SnsListenerOptions } from "./http/sns-listener.ts";
export { verifySns, type SnsMessage } from "./http/verify-sns.ts";

import type { Template } from "../template/template.ts";

/** What transforms make of a template, or why they make nothing of it (fact 108). */
export type Transformed =
  | { readonly kind: "template"; readonly template: Template }
  | { readonly kind: "failed"; readonly message: string };

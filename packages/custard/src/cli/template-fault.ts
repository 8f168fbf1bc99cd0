import type { Diagnostic } from "../template/diagnostic.ts";

/** A template that is wrong, with all that is wrong about it. */
export class TemplateFault extends Error {
  override readonly name = "TemplateFault";
  /** As the person named it. */
  readonly file: string;
  readonly body: string;
  readonly diagnostics: readonly Diagnostic[];

  constructor(fault: {
    readonly file: string;
    readonly body: string;
    readonly diagnostics: readonly Diagnostic[];
  }) {
    super(fault.diagnostics.map((diagnostic) => diagnostic.message).join("\n"));
    this.file = fault.file;
    this.body = fault.body;
    this.diagnostics = fault.diagnostics;
  }
}

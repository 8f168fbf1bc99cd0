import type { MacroRegistry } from "../services/macros.ts";
import { ResourceFailure } from "./failure.ts";
import type { Handler, Made } from "./handler.ts";
import type { KeptRecords } from "./kept-records.ts";
import { scopeOf } from "./lambda-function.ts";
import { type Subject, textProperty } from "./subject.ts";

/** `AWS::CloudFormation::Macro`: from its creation on, templates of the account and region can name it. */
export function cloudFormationMacro(macros: MacroRegistry, records: KeptRecords): Handler {
  async function save(subject: Subject, name: string): Promise<Made> {
    await macros.put(scopeOf(subject), { name, functionName: textProperty(subject, "FunctionName") ?? "" });
    return { physicalId: name, attributes: {} };
  }
  return {
    async create(subject) {
      const { task, properties } = subject;
      const name = textProperty(subject, "Name") ?? "";
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name))
        throw new ResourceFailure(`${name} is no name for a macro: it has letters, digits, _ and - only.`);
      await records.create(task, name, { properties, attributes: {} });
      return await save(subject, name);
    },
    async update(subject) {
      const { task, properties } = subject;
      await records.update(task, { properties, attributes: {} });
      return await save(subject, task.physicalId);
    },
    async delete(subject) {
      const { task } = subject;
      if (!(await records.owns(task))) return;
      await macros.delete(scopeOf(subject), task.physicalId);
      await records.delete(task);
    },
  };
}

/** The life of a 20-resource stack that the crash test interrupts: what is asked for, and how it must end. */
export interface Step {
  readonly name: "create" | "update" | "rollback" | "delete";
  readonly ends: string;
  /** Undefined: the stack is deleted. */
  readonly templateBody?: string;
}

const size = 20;
const token = "arn:aws:lambda:us-east-1:123456789012:function:provider";

/** Four layers of five; each resource refers to one of the layer before. */
function template(version: { value: number; name: number; fails: boolean }): string {
  const resources = Array.from({ length: size }, (_, index) => [
    `R${index}`,
    {
      Type: "Custom::Thing",
      Properties: {
        ServiceToken: token,
        ServiceTimeout: 60,
        Value: version.value,
        Name: index % 4 === 0 ? version.name : 0,
        ...(index >= 5 ? { Before: { Ref: `R${index - 5}` } } : {}),
        ...(version.fails && index === size - 1 ? { Fail: "yes" } : {}),
      },
    },
  ]);
  return JSON.stringify({ Resources: Object.fromEntries(resources) as object });
}

/** In this order. */
export const steps: readonly Step[] = [
  { name: "create", ends: "CREATE_COMPLETE", templateBody: template({ value: 1, name: 1, fails: false }) },
  { name: "update", ends: "UPDATE_COMPLETE", templateBody: template({ value: 2, name: 2, fails: false }) },
  // No names change here: what a cancelled update makes anew is nobody's any more, on AWS as well.
  {
    name: "rollback",
    ends: "UPDATE_ROLLBACK_COMPLETE",
    templateBody: template({ value: 3, name: 2, fails: true }),
  },
  { name: "delete", ends: "DELETE_COMPLETE" },
];

import type { Subject } from "./subject.ts";

/** What a service demands of names. */
interface NameRules {
  /** Characters. */
  readonly longest: number;
  readonly lowerCase: boolean;
}

const anything: NameRules = { longest: 255, lowerCase: false };

/** By type or by service; sources: the services' own references of the name property. */
const rules: Readonly<Record<string, NameRules>> = {
  "AWS::IAM": { longest: 64, lowerCase: false },
  "AWS::Lambda": { longest: 64, lowerCase: false },
  "AWS::S3": { longest: 63, lowerCase: true },
  "AWS::SQS": { longest: 80, lowerCase: false },
  "AWS::Events": { longest: 64, lowerCase: false },
  "AWS::StepFunctions": { longest: 80, lowerCase: false },
  "AWS::ElasticLoadBalancingV2": { longest: 32, lowerCase: false },
  "AWS::ElasticLoadBalancing": { longest: 32, lowerCase: false },
  "AWS::RDS": { longest: 63, lowerCase: true },
  "AWS::DocDB": { longest: 63, lowerCase: true },
  "AWS::Neptune": { longest: 63, lowerCase: true },
  "AWS::Redshift": { longest: 63, lowerCase: true },
  "AWS::ElastiCache": { longest: 40, lowerCase: true },
  "AWS::MemoryDB": { longest: 40, lowerCase: true },
  "AWS::OpenSearchService": { longest: 28, lowerCase: true },
  "AWS::Elasticsearch": { longest: 28, lowerCase: true },
  "AWS::ECR": { longest: 255, lowerCase: true },
};

/**
 * The name that a resource without a name of its own gets: `<stack>-<LogicalId>-<12 characters>` (facts 63 and 100).
 * It comes with the task; here it is only fitted to what the service allows, the unique end kept whole.
 */
export function generatedName({ task }: Subject): string {
  const service = task.type.split("::").slice(0, 2).join("::");
  const { longest, lowerCase } = rules[service] ?? anything;
  const fitted = fit(task.physicalId, longest);
  return lowerCase ? fitted.toLowerCase() : fitted;
}

function fit(name: string, longest: number): string {
  if (name.length <= longest) return name;
  const end = name.slice(name.lastIndexOf("-"));
  return `${name.slice(0, longest - end.length).replace(/-+$/, "")}${end}`;
}

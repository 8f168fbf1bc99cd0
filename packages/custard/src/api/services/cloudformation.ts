/** CloudFormation: its operations, as data. */
import type { Service } from "../service.ts";
import {
  createChangeSet,
  deleteChangeSet,
  describeChangeSet,
  describeChangeSetHooks,
  executeChangeSet,
  listChangeSets,
} from "./cloudformation/change-sets.ts";
import {
  describeStackDriftDetectionStatus,
  describeStackResourceDrifts,
  detectStackDrift,
  detectStackResourceDrift,
} from "./cloudformation/drift.ts";
import { constrained } from "./cloudformation/constraints.ts";
import { explainStackError } from "./cloudformation/errors.ts";
import {
  describeEvents,
  describeStackEvents,
  describeStackResource,
  describeStackResources,
  listStackResources,
} from "./cloudformation/resources.ts";
import {
  cancelUpdateStack,
  continueUpdateRollback,
  createStack,
  deleteStack,
  describeAccountLimits,
  describeStacks,
  getStackPolicy,
  listExports,
  listImports,
  listStacks,
  rollbackStack,
  setStackPolicy,
  signalResource,
  updateStack,
  updateTerminationProtection,
} from "./cloudformation/stacks.ts";
import {
  estimateTemplateCost,
  getTemplate,
  getTemplateSummary,
  validate,
} from "./cloudformation/templates.ts";
import type { CloudFormationWorld } from "./cloudformation/world.ts";

export const cloudFormation: Service<CloudFormationWorld> = {
  name: "cloudformation",
  operations: constrained({
    CancelUpdateStack: cancelUpdateStack,
    ContinueUpdateRollback: continueUpdateRollback,
    CreateChangeSet: createChangeSet,
    CreateStack: createStack,
    DeleteChangeSet: deleteChangeSet,
    DeleteStack: deleteStack,
    DescribeAccountLimits: describeAccountLimits,
    DescribeChangeSet: describeChangeSet,
    DescribeChangeSetHooks: describeChangeSetHooks,
    DescribeEvents: describeEvents,
    DescribeStackDriftDetectionStatus: describeStackDriftDetectionStatus,
    DescribeStackEvents: describeStackEvents,
    DescribeStackResource: describeStackResource,
    DescribeStackResourceDrifts: describeStackResourceDrifts,
    DescribeStackResources: describeStackResources,
    DescribeStacks: describeStacks,
    DetectStackDrift: detectStackDrift,
    DetectStackResourceDrift: detectStackResourceDrift,
    EstimateTemplateCost: estimateTemplateCost,
    ExecuteChangeSet: executeChangeSet,
    GetStackPolicy: getStackPolicy,
    GetTemplate: getTemplate,
    GetTemplateSummary: getTemplateSummary,
    ListChangeSets: listChangeSets,
    ListExports: listExports,
    ListImports: listImports,
    ListStackResources: listStackResources,
    ListStacks: listStacks,
    RollbackStack: rollbackStack,
    SetStackPolicy: setStackPolicy,
    SignalResource: signalResource,
    UpdateStack: updateStack,
    UpdateTerminationProtection: updateTerminationProtection,
    ValidateTemplate: validate,
  }),
  explain: explainStackError,
};

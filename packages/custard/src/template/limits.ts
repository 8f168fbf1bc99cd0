/** What a template may hold. Source: "Understand CloudFormation quotas", facts 120 and 121. */

/** Bytes of a template that is given inline, in a call (fact 121). A file counts as one that comes by URL. */
export const maxInlineBytes = 51_200;
/** Bytes of a template that comes by URL. */
export const maxBytes = 1_048_576;
export const maxResources = 500;
export const maxParameters = 200;
export const maxOutputs = 200;
export const maxMappings = 200;
/** Attributes of one mapping. */
export const maxMappingAttributes = 200;
/** Characters of the names of parameters, mappings, resources and outputs. */
export const maxNameLength = 255;
/** Bytes of a parameter's value, a description or any other text that stands in the template's own sections. */
export const maxParameterBytes = 4096;
/** Bytes of the template's description. */
export const maxDescriptionBytes = 1024;
/** Collections within collections. Ours: far above what a template needs, far below what a call stack bears. */
export const maxDepth = 100;
/** Nodes of a tree once its aliases are written out, and of a template once its loops are. Ours: 500 resources of 400 nodes each. */
export const maxNodes = 200_000;

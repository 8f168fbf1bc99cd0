declare const brand: unique symbol;
type Id<Name extends string> = string & { readonly [brand]: Name };

/** The name of a resource in its template. */
export type LogicalId = Id<"LogicalId">;
/** What a provider calls its resource: a non-empty string of at most 1024 bytes. */
export type PhysicalId = Id<"PhysicalId">;
/** Identifies one request of a stack, in UUID form. */
export type RequestId = Id<"RequestId">;
/** The stack's ARN. */
export type StackId = Id<"StackId">;

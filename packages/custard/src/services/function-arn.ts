/** Where functions live. */
export interface FunctionScope {
  readonly partition: string;
  readonly account: string;
  readonly region: string;
}

/** A function, or one version or alias of it. */
export interface FunctionReference extends FunctionScope {
  readonly name: string;
  /** A version number, `$LATEST` or an alias; absent in an unqualified ARN. */
  readonly qualifier?: string;
}

const arnForm =
  /^arn:(aws[a-z-]*):lambda:([a-z0-9-]+):(\d{12}):function:([a-zA-Z0-9_-]{1,64})(?::(\$LATEST|[a-zA-Z0-9_-]{1,128}))?$/;

/** Reads a Lambda function ARN, also with a version or an alias; undefined when it is none. */
export function parseFunctionArn(text: string): FunctionReference | undefined {
  const [, partition, region, account, name, qualifier] = arnForm.exec(text) ?? [];
  if (partition === undefined || region === undefined || account === undefined || name === undefined)
    return undefined;
  const reference = { partition, region, account, name };
  return qualifier === undefined ? reference : { ...reference, qualifier };
}

/** `arn:aws:lambda:us-east-1:123456789012:function:name[:qualifier]` */
export function formatFunctionArn(reference: FunctionReference): string {
  const { partition, region, account, name, qualifier } = reference;
  const arn = `arn:${partition}:lambda:${region}:${account}:function:${name}`;
  return qualifier === undefined ? arn : `${arn}:${qualifier}`;
}

/** What API callers may give as a function's name: the name, `name:qualifier`, a partial or a whole ARN. */
export function parseFunctionName(text: string, scope: FunctionScope): FunctionReference | undefined {
  const whole = parseFunctionArn(text);
  if (whole !== undefined) return whole;
  const [, account, name, qualifier] =
    /^(?:(\d{12}):function:)?([a-zA-Z0-9_-]{1,64})(?::(\$LATEST|[a-zA-Z0-9_-]{1,128}))?$/.exec(text) ?? [];
  if (name === undefined) return undefined;
  const reference = { ...scope, ...(account === undefined ? {} : { account }), name };
  return qualifier === undefined ? reference : { ...reference, qualifier };
}

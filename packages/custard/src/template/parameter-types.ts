/** The AWS-specific types that stand alone, in a list, and in SSM values. Source: Parameters section reference. */
const awsTypes = [
  "AWS::EC2::AvailabilityZone::Name",
  "AWS::EC2::Image::Id",
  "AWS::EC2::Instance::Id",
  "AWS::EC2::KeyPair::KeyName",
  "AWS::EC2::SecurityGroup::GroupName",
  "AWS::EC2::SecurityGroup::Id",
  "AWS::EC2::Subnet::Id",
  "AWS::EC2::Volume::Id",
  "AWS::EC2::VPC::Id",
  "AWS::Route53::HostedZone::Id",
] as const;

const plainTypes: ReadonlySet<string> = new Set([
  "String",
  "Number",
  "List<Number>",
  "List<String>",
  "CommaDelimitedList",
  "AWS::SSM::Parameter::Name",
  ...awsTypes,
  ...awsTypes.map((type) => `List<${type}>`),
]);

const ssmValue = /^AWS::SSM::Parameter::Value<(.+)>$/;

/** Is there such a type of parameter? */
export function isParameterType(type: string): boolean {
  return plainTypes.has(valueType(type));
}

/** The type of the value itself: that of the SSM parameter, for a parameter that names one. */
function valueType(type: string): string {
  return ssmValue.exec(type)?.[1] ?? type;
}

/** Does a parameter of this type name an SSM parameter, whose value it takes? */
export function isSsmValue(type: string): boolean {
  return ssmValue.test(type);
}

/** Is the value a list, written with commas? */
export function isListType(type: string): boolean {
  const own = valueType(type);
  return own === "CommaDelimitedList" || own.startsWith("List<");
}

/** Is the value a number, or a list of numbers? */
export function isNumberType(type: string): boolean {
  const own = valueType(type);
  return own === "Number" || own === "List<Number>";
}

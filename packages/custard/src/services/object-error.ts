/** What S3 says when it refuses, by its own code. Source: S3's error responses page and its clients' recorded answers. */
export const objectErrors = {
  BadDigest: { status: 400, message: "The Content-MD5 you specified did not match what we received." },
  BucketAlreadyExists: {
    status: 409,
    message:
      "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.",
  },
  BucketAlreadyOwnedByYou: {
    status: 409,
    message: "Your previous request to create the named bucket succeeded and you already own it.",
  },
  BucketNotEmpty: { status: 409, message: "The bucket you tried to delete is not empty" },
  EntityTooLarge: { status: 400, message: "Your proposed upload exceeds the maximum allowed size" },
  EntityTooSmall: {
    status: 400,
    message: "Your proposed upload is smaller than the minimum allowed size",
  },
  InvalidArgument: { status: 400, message: "Invalid Argument" },
  InvalidBucketName: { status: 400, message: "The specified bucket is not valid." },
  InvalidDigest: { status: 400, message: "The Content-MD5 you specified was invalid." },
  InvalidPart: {
    status: 400,
    message:
      "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
  },
  InvalidPartOrder: {
    status: 400,
    message: "The list of parts was not in ascending order. Parts must be ordered by part number.",
  },
  InvalidRange: { status: 416, message: "The requested range is not satisfiable" },
  InvalidTag: {
    status: 400,
    message:
      "The tag provided was not a valid tag. This error can occur if the tag did not pass input validation.",
  },
  KeyTooLongError: { status: 400, message: "Your key is too long" },
  MalformedPolicy: { status: 400, message: "This policy contains invalid Json" },
  MethodNotAllowed: {
    status: 405,
    message: "The specified method is not allowed against this resource.",
  },
  NoSuchBucket: { status: 404, message: "The specified bucket does not exist" },
  NoSuchBucketPolicy: { status: 404, message: "The bucket policy does not exist" },
  NoSuchCORSConfiguration: { status: 404, message: "The CORS configuration does not exist" },
  NoSuchKey: { status: 404, message: "The specified key does not exist." },
  NoSuchLifecycleConfiguration: { status: 404, message: "The lifecycle configuration does not exist" },
  NoSuchPublicAccessBlockConfiguration: {
    status: 404,
    message: "The public access block configuration was not found",
  },
  NoSuchTagSet: { status: 404, message: "The TagSet does not exist" },
  NoSuchUpload: {
    status: 404,
    message:
      "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.",
  },
  NoSuchVersion: { status: 404, message: "The specified version does not exist." },
  NoSuchWebsiteConfiguration: {
    status: 404,
    message: "The specified bucket does not have a website configuration",
  },
  OwnershipControlsNotFoundError: {
    status: 404,
    message: "The bucket ownership controls were not found",
  },
  PreconditionFailed: {
    status: 412,
    message: "At least one of the pre-conditions you specified did not hold",
  },
  ReplicationConfigurationNotFoundError: {
    status: 404,
    message: "The replication configuration was not found",
  },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly message: string }>>;

/** S3's error codes that the object store uses. */
export type ObjectErrorCode = keyof typeof objectErrors;

/** A refusal of the object store. `details` are further members of S3's error document, e.g. `BucketName`, `Key`. */
export class ObjectError extends Error {
  override readonly name = "ObjectError";
  readonly code: ObjectErrorCode;
  readonly details: Readonly<Record<string, string>>;

  constructor(
    code: ObjectErrorCode,
    details: Readonly<Record<string, string>> = {},
    message: string = objectErrors[code].message,
  ) {
    super(message);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return objectErrors[this.code].status;
  }
}

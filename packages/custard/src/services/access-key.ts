/** Access keys of this machine: they name an account, and open nothing anywhere else. */

/** The key by which local functions, and those who assume roles here, are known as an account's. */
export function accessKeyOf(account: string): string {
  return `ASIACSTD${account}`;
}

/** The account that an access key names: one of ours, or a key that is just an account's number. */
export function accountOf(accessKeyId: string | undefined): string | undefined {
  return /^(?:ASIACSTD)?(\d{12})$/.exec(accessKeyId ?? "")?.[1];
}

/** Was an access key given out on this machine? */
export function isOwnKey(accessKeyId: string): boolean {
  return /^ASIACSTD\d{12}$/.test(accessKeyId);
}

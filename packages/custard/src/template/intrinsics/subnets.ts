/**
 * The first `count` (1 to 256) subnets of a CIDR block, each with `bits` bits for its hosts (by default 8, or 64
 * in an IPv6 block). Undefined when the block is malformed or has no room for them.
 */
export function subnets(block: string, count: number, bits?: number): readonly string[] | undefined {
  const [address = "", prefixText = "", ...more] = block.split("/");
  const family = address.includes(":") ? v6 : v4;
  const base = family.parse(address);
  if (base === undefined || more.length > 0 || !/^[0-9]{1,3}$/.test(prefixText)) return undefined;
  const prefix = Number(prefixText);
  const hostBits = bits ?? family.defaultBits;
  if (prefix > family.length || !hasRoom(family.length - prefix, hostBits, count)) return undefined;
  const start = (base >> BigInt(family.length - prefix)) << BigInt(family.length - prefix);
  return Array.from({ length: count }, (_, index) => {
    return `${family.format(start + (BigInt(index) << BigInt(hostBits)))}/${family.length - hostBits}`;
  });
}

function hasRoom(blockBits: number, hostBits: number, count: number): boolean {
  if (hostBits < 1 || hostBits > blockBits || count < 1 || count > 256) return false;
  return BigInt(count) <= 1n << BigInt(blockBits - hostBits);
}

interface Family {
  readonly length: number;
  readonly defaultBits: number;
  parse(address: string): bigint | undefined;
  format(address: bigint): string;
}

const v4: Family = {
  length: 32,
  defaultBits: 8,
  parse(address) {
    const parts = address.split(".");
    if (parts.length !== 4 || !parts.every((part) => /^[0-9]{1,3}$/.test(part) && Number(part) < 256))
      return undefined;
    return parts.reduce((sum, part) => (sum << 8n) | BigInt(Number(part)), 0n);
  },
  format: (address) => [24n, 16n, 8n, 0n].map((shift) => String((address >> shift) & 255n)).join("."),
};

const v6: Family = {
  length: 128,
  defaultBits: 64,
  parse(address) {
    const halves = address.split("::");
    if (halves.length > 2) return undefined;
    const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
    const missing = 8 - head.length - tail.length;
    if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
    const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
    if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
    return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
  },
  format(address) {
    const groups = Array.from({ length: 8 }, (_, index) =>
      ((address >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
    );
    const zeros = longestZeros(groups);
    if (zeros.length < 2) return groups.join(":");
    return `${groups.slice(0, zeros.start).join(":")}::${groups.slice(zeros.start + zeros.length).join(":")}`;
  },
};

function longestZeros(groups: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  groups.forEach((group, index) => {
    if (group !== "0") start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  });
  return best;
}

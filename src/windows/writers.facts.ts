/**
 * Rights of an access rule by their SDDL abbreviation, as the mask of a file (Microsoft, "ACE strings", "File access
 * rights constants").
 */
const RIGHTS: Readonly<Record<string, number>> = {
  GA: 0x1000_0000,
  GW: 0x4000_0000,
  FA: 0x1f_01ff,
  FW: 0x12_0116,
  WD: 0x4_0000,
  WO: 0x8_0000,
  SD: 0x1_0000,
  // In a folder: delete a child; make a folder; make a file.
  DT: 0x40,
  LC: 0x4,
  DC: 0x2,
};

/** Any of these lets an account put a file into a folder, exchange one, or give itself the right to. */
const WRITE = 0x1000_0000 | 0x4000_0000 | 0x4_0000 | 0x8_0000 | 0x1_0000 | 0x40 | 0x4 | 0x2;

/** Who is an administrator anyway: SYSTEM, the administrators, and the installer of Windows. */
const ADMINISTRATORS = new Set([
  ...['SY', 'BA', 'LA', 'DA', 'EA', 'S-1-5-18', 'S-1-5-32-544'],
  'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464',
]);

/** Names of accounts and groups by their SDDL abbreviation (Microsoft, "SID strings"). */
const NAMES: Readonly<Record<string, string>> = {
  BU: 'every user',
  AU: 'every user',
  WD: 'Everyone',
  IU: 'every user at the console',
  CO: 'who makes a file there',
};

const maskOf = (rights: string): number =>
  rights.startsWith('0x')
    ? Number.parseInt(rights, 16)
    : (rights.match(/../g) ?? []).reduce((mask, right) => mask | (RIGHTS[right] ?? 0), 0);

/**
 * Who can change what a folder holds, beside the administrators, by the folder's SDDL: its owner, who may change its
 * rules, and the accounts that a rule gives a right to write, in the folder or in those below. Names of groups, or
 * SIDs.
 */
export function writersOf(sddl: string): readonly string[] {
  const [, owner] = /^O:(S-[\d-]+|[A-Z]{2})/.exec(sddl) ?? [];
  const rules = [...sddl.matchAll(/\(A;[^;]*;([^;]*);[^;]*;[^;]*;([^;)]+)\)/g)];
  const allowed = rules.filter(([, rights]) => (maskOf(rights!) & WRITE) !== 0).map(([, , account]) => account!);
  const accounts = [...(owner === undefined ? [] : [owner]), ...allowed].filter((one) => !ADMINISTRATORS.has(one));
  return [...new Set(accounts.map((one) => NAMES[one] ?? one))];
}

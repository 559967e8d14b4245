import type { NamesInInventory } from '../../inventory/names.ts';
import type { Candidates } from '../option.ts';
import type { Position } from './position.ts';

/** Something that can stand at the cursor, and what the shell shows beside it. */
export interface Candidate {
  readonly value: string;
  readonly note: string;
}

/** What candidates are read from. Nothing of it connects, runs a command, or throws. */
export interface CandidateSources {
  /** The names of the inventory; none where it cannot be read. */
  readonly names: () => Promise<NamesInInventory>;
  /** The runs of a cluster that can be reported, newest first. */
  readonly runs: (cluster: string) => Promise<readonly string[]>;
}

const plain = (values: readonly string[]): readonly Candidate[] => values.map((value) => ({ value, note: '' }));

const hosts = ({ hosts: list }: NamesInInventory): readonly Candidate[] =>
  list.map(({ name, role }) => ({ value: name, note: role }));

const checkNames = async (): Promise<readonly Candidate[]> => {
  const { checks } = await import('../../checks/index.ts');
  return checks.map(({ name, title }) => ({ value: name, note: title }));
};

/** Topics of `explain`: paths without brackets, which shells would take for patterns. */
async function topics(operands: readonly string[]): Promise<readonly Candidate[]> {
  const [first] = operands;
  if (first === 'check') return operands.length === 1 ? checkNames() : [];
  if (first === 'exit') {
    const { EXIT_CODES } = await import('../../exit-codes.ts');
    return operands.length === 1 ? EXIT_CODES.map(({ code, title }) => ({ value: String(code), note: title })) : [];
  }
  if (first !== undefined) return [];
  const { inventorySettings, withInner } = await import('../../inventory/settings.ts');
  const settings = withInner(inventorySettings()).slice(1);
  return [
    { value: 'check', note: 'a preflight check' },
    { value: 'exit', note: 'an exit code' },
    ...settings.map(({ path, meaning }) => ({ value: path.replaceAll('[]', ''), note: meaning })),
  ];
}

/** What can stand where these candidates are asked for; `files` are the shell's to find. */
export async function candidatesFor(
  from: Exclude<Candidates, 'files'>,
  { operands }: Pick<Position, 'operands'>,
  { names, runs }: CandidateSources,
): Promise<readonly Candidate[]> {
  switch (from) {
    case 'hosts':
      return hosts(await names());
    case 'hosts and groups': {
      const found = await names();
      return [...hosts(found), ...found.groups.map((value) => ({ value, note: 'group' }))];
    }
    case 'phases':
      return plain((await import('../../phases/names.ts')).UP_PHASES);
    case 'checks':
      return checkNames();
    case 'certificates':
      return plain((await import('../../configuration/kubeadm-certificates.ts')).RENEWED_NAMES);
    case 'documents':
      return plain(Object.keys((await import('../../report/documents/index.ts')).DOCUMENTS));
    case 'topics':
      return topics(operands);
    case 'runs': {
      const { cluster } = await names();
      return cluster === undefined ? [] : plain(await runs(cluster));
    }
    default:
      return plain(from);
  }
}

import { table } from '../templates.ts';
import { minorNumber } from '../versions.ts';

/** The components whose flags an inventory can have. */
export type FlagComponent = 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubelet' | 'etcd';

/** The readers of feature gates. `kubernetes`: all components of Kubernetes but kubeadm. */
export type GateSet = 'kubernetes' | 'kubeadm' | 'etcd';

/** Commands of kubeadm that have phases. */
type PhasedCommand = 'init' | 'join' | 'reset';

type Named<T> = Readonly<Record<string, T>>;

/** templates/tables/kubernetes.json, as test/tools/types-tables.ts writes it. */
interface Tables {
  readonly releases: readonly { readonly minor: string; readonly kubernetes: string; readonly etcd: string }[];
  /** The version that stands for all older ones. */
  readonly old: string;
  /** By type and field: type, range, documentation; several times where the type changed. */
  readonly types: Named<Named<readonly string[]>>;
  /** By type: value → range. */
  readonly enums: Named<Named<string>>;
  /** By component: flag → its type and range. */
  readonly flags: Named<Named<string>>;
  /** By set: gate → one word for the old version and each release. */
  readonly gates: Named<Named<string>>;
  /** Admission plugin → range. */
  readonly plugins: Named<string>;
  /** By command: phase → range. */
  readonly phases: Named<Named<string>>;
}

let read: Tables | undefined;

/** Reads the tables when they are first needed: most inventories override few settings. */
const tables = (): Tables => (read ??= JSON.parse(table('kubernetes')) as Tables);

/** True if a range (`35-`, `-35`, `34-35`, empty: all, `=1.23`: none) holds a minor. */
function holds(range: string, minor: number): boolean {
  if (range.startsWith('=')) return false;
  const [first = '', last = ''] = range.split('-');
  return (first === '' || Number(first) <= minor) && (last === '' || minor <= Number(last));
}

/** The tables' entry for one version of Kubernetes. */
interface KnownVersion {
  /** e.g. 36 */
  readonly minor: number;
  /** The version whose sources the tables come from. */
  readonly source: string;
  /** False if the version is newer than its source: it may then have more settings. */
  readonly isSure: boolean;
}

/** Looks a version up. Uses the newest table for a minor that is newer than all tables. */
export function knownVersion(version: string): KnownVersion {
  const minor = minorNumber(version);
  const { releases } = tables();
  const release = releases.find((one) => minorNumber(one.minor) === minor) ?? releases.at(-1)!;
  return {
    minor: minorNumber(release.minor),
    source: release.kubernetes,
    isSure: minor <= minorNumber(release.minor),
  };
}

/** A field of a type. */
export interface TypedField {
  /** `text`, `bool`, `int32`, `duration`, `[]text`, `{}bool`, or the name of a type or of an enumeration. */
  readonly type: string;
  readonly documentation: string;
  /** The first minor that has it; undefined: the oldest of the tables has it. */
  readonly since?: string;
}

function fieldIn(row: readonly string[], minor: number): TypedField | undefined {
  for (let i = 0; i < row.length; i += 3) {
    const [type = '', range = '', documentation = ''] = row.slice(i, i + 3);
    if (!holds(range, minor)) continue;
    const [first = ''] = range.split('-');
    return { type, documentation, ...(first === '' ? {} : { since: `1.${first}` }) };
  }
  return undefined;
}

/** True for the name of a type with fields. */
export const isStruct = (type: string): boolean => Object.hasOwn(tables().types, type);

/** A field of a type in this minor; undefined: there is none. */
export function fieldOf(type: string, name: string, minor: number): TypedField | undefined {
  const fields = tables().types[type];
  return fields !== undefined && Object.hasOwn(fields, name) ? fieldIn(fields[name]!, minor) : undefined;
}

/** The names of a type's fields in this minor. */
export const fieldNames = (type: string, minor: number): readonly string[] =>
  Object.entries(tables().types[type] ?? {})
    .filter(([, row]) => fieldIn(row, minor) !== undefined)
    .map(([name]) => name);

/** The text of a hint to a version that has what this minor lacks; undefined if none has it. */
function elsewhere(ranges: readonly string[], minor: number): string | undefined {
  for (const range of ranges) {
    if (range.startsWith('=')) {
      const known = range.slice(1).split(',');
      const api = known.find((label) => label.startsWith('v1'));
      return api === undefined ? `Kubernetes ${known[0]!} had it` : `it is of kubeadm's older API ${api}`;
    }
    const [first = '', last = ''] = range.split('-');
    if (first !== '' && Number(first) > minor) return `it exists from Kubernetes 1.${first} on`;
    if (last !== '' && Number(last) < minor) return `Kubernetes 1.${last} was the last to have it`;
  }
  return undefined;
}

const everyThird = (row: readonly string[]): readonly string[] => row.filter((_, i) => i % 3 === 1);

/** The hint to a version that has a field which this minor lacks; undefined if none has it. */
export function fieldElsewhere(type: string, name: string, minor: number): string | undefined {
  const fields = tables().types[type];
  return fields !== undefined && Object.hasOwn(fields, name) ? elsewhere(everyThird(fields[name]!), minor) : undefined;
}

/** The values of an enumeration in this minor; undefined if the type is not an enumeration. */
export function valuesOf(type: string, minor: number): readonly string[] | undefined {
  const values = Object.hasOwn(tables().enums, type) ? tables().enums[type] : undefined;
  return values && Object.keys(values).filter((value) => holds(values[value]!, minor));
}

/** The names whose range holds the minor. */
const within = (items: Named<string>, minor: number): readonly string[] =>
  Object.keys(items).filter((name) => holds(items[name]!, minor));

/** The hint to a version that has a name which this minor lacks; undefined if none has it. */
const rangeElsewhere = (items: Named<string>, name: string, minor: number): string | undefined =>
  Object.hasOwn(items, name) ? elsewhere([items[name]!], minor) : undefined;

/** The names of this minor, and the hint for a name that it lacks. */
interface KnownNames {
  readonly names: readonly string[];
  readonly elsewhere: (name: string) => string | undefined;
}

const namesOf = (items: Named<string>, minor: number): KnownNames => ({
  names: within(items, minor),
  elsewhere: (name) => rangeElsewhere(items, name, minor),
});

/** The admission plugins of kube-apiserver. */
export const admissionPlugins = (minor: number): KnownNames => namesOf(tables().plugins, minor);

/** The phases of a command of kubeadm, which `skipPhases` names. */
export const phasesOf = (command: PhasedCommand, minor: number): KnownNames =>
  namesOf(tables().phases[command]!, minor);

/** Flags that every component has. */
const COMMON: Readonly<Record<string, string>> = { help: 'bool', version: 'other' };

/** The type of a flag's value: test/tools/go-source.ts lists the types. */
export function flagType(component: FlagComponent, name: string, minor: number): string | undefined {
  const [type, range = ''] = (tables().flags[component]![name] ?? '').split(' ');
  return holds(range, minor) && type !== '' ? type : COMMON[name];
}

/** The flags of a component. */
export function flagsOf(component: FlagComponent, minor: number): KnownNames {
  const flags = Object.fromEntries(
    Object.entries(tables().flags[component]!).map(([name, entry]) => [name, entry.split(' ')[1] ?? '']),
  );
  return namesOf(flags, minor);
}

/** A feature gate in one minor. */
interface KnownGate {
  readonly stage: 'alpha' | 'beta' | 'stable' | 'deprecated';
  readonly default: boolean;
  /** True if no other value than `default` is accepted. */
  readonly isLocked: boolean;
}

const STAGES: Readonly<Record<string, KnownGate['stage']>> = {
  a: 'alpha',
  b: 'beta',
  s: 'stable',
  d: 'deprecated',
};

const words = (set: GateSet, name: string): readonly string[] =>
  Object.hasOwn(tables().gates[set]!, name) ? tables().gates[set]![name]!.split(' ') : [];

const columnOf = (minor: number): number =>
  1 + tables().releases.findIndex((release) => minorNumber(release.minor) === minor);

/** A feature gate; undefined if this minor has none of that name. */
export function gateOf(set: GateSet, name: string, minor: number): KnownGate | undefined {
  const word = words(set, name)[columnOf(minor)] ?? '.';
  return word === '.'
    ? undefined
    : { stage: STAGES[word[0]!]!, default: word[1] === '+', isLocked: word.endsWith('!') };
}

/** The feature gates of a set, and where one is known that this minor has not. */
export function gatesOf(set: GateSet, minor: number): KnownNames {
  const { releases, old } = tables();
  const labels = [old.split('.').slice(0, 2).join('.'), ...releases.map((release) => release.minor)];
  return {
    names: Object.keys(tables().gates[set]!).filter((name) => gateOf(set, name, minor) !== undefined),
    elsewhere: (name) => {
      const known = words(set, name);
      const last = known.findLastIndex((word, column) => word !== '.' && column < columnOf(minor));
      if (last !== -1) return `Kubernetes ${labels[last]!} had it`;
      const first = known.findIndex((word) => word !== '.');
      return first === -1 ? undefined : `it exists from Kubernetes ${labels[first]!} on`;
    },
  };
}

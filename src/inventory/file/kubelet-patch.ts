import { parseAllDocuments } from 'yaml';
import { type FlagComponent, flagType, knownVersion } from '../../kubeadm/tables.value.ts';
import { mismatches } from '../../kubeadm/typed.value.ts';
import { isObject } from '../../shell/decode.ts';
import { showPath } from '../schema/rule.ts';
import { ownedFlag } from './rules/kubernetes/arguments.ts';
import { below } from './rules/kubernetes/places.ts';
import { ownedKubeletFields } from './rules/owned.ts';

/** The documents of a patch; those that no YAML reader understands are left to kubeadm. */
const documentsIn = (content: string): readonly unknown[] =>
  parseAllDocuments(content, { logLevel: 'silent' }).flatMap((document): readonly unknown[] =>
    document.errors.length > 0 ? [] : [document.toJS() as unknown],
  );

/**
 * What this type of the tables has not, below `keys` of a patch. Directives of strategic patches, and what says of
 * which kind an object is, are no fields of a type.
 */
const unknownIn = (value: unknown, type: string, minor: number, keys: readonly string[] = []): readonly string[] =>
  mismatches(value, type, minor, keys)
    .filter((one) => !['apiVersion', 'kind'].includes(String(one.keys[0])))
    .filter((one) => !one.keys.some((key) => String(key).startsWith('$')))
    .map((one) => `${showPath(one.keys)}: ${one.message}`);

/** Components whose static pods kubeadm patches. */
const PODS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'etcd'] as const;

const POD_FIELDS = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

/** Every text in a value. */
const textsIn = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : Array.isArray(value)
      ? value.flatMap(textsIn)
      : isObject(value)
        ? Object.values(value).flatMap(textsIn)
        : [];

/** What a patch that is a Pod gets wrong: fields in the wrong place, and lists that a merge patch replaces. */
function podProblems(patch: Readonly<Record<string, unknown>>, isMerge: boolean): readonly string[] {
  const { containers } = isObject(patch['spec']) ? patch['spec'] : {};
  const listed = Array.isArray(containers) ? containers.filter(isObject) : [];
  return [
    ...Object.keys(patch)
      .filter((name) => !POD_FIELDS.includes(name) && !name.startsWith('$'))
      .map((name) => `${name}: a Pod has no such field; did you mean spec.${name}?`),
    ...listed.flatMap((container, i) =>
      isMerge && container['image'] === undefined
        ? [`spec.containers[${String(i)}]: a merge patch replaces the whole list; name the file …+strategic.yaml`]
        : container['name'] === undefined
          ? [`spec.containers[${String(i)}]: needs the name of the container that it changes`]
          : [],
    ),
  ];
}

/** Targets whose pods are made from a template. */
const TEMPLATED = ['corednsdeployment', 'kubeproxydaemonset'];

/** Where a patch of this target has the specification of a pod. */
const specOf = (name: string): readonly string[] =>
  TEMPLATED.some((one) => name.startsWith(one)) ? ['spec', 'template', 'spec'] : ['spec'];

/** The component whose static pod a patch changes. */
const podOf = (name: string): FlagComponent | undefined => PODS.find((one) => name.startsWith(one));

/** Flags of a static pod's component that this version does not have. */
function unknownFlags(name: string, patch: unknown, minor: number): readonly string[] {
  const component = podOf(name);
  if (component === undefined) return [];
  const spec = isObject(patch) ? patch['spec'] : Array.isArray(patch) ? patch : [];
  return textsIn(spec)
    .flatMap((text) => /^--([\w-]+)(?:=|$)/.exec(text)?.[1] ?? [])
    .filter((flag) => flagType(component, flag, minor) === undefined)
    .map((flag) => `${component} of Kubernetes 1.${String(minor)} has no flag --${flag}, and would end at once`);
}

/** An operation of a JSON patch (RFC 6902). */
interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

/** The operations of a JSON patch; those that say nothing of what they do are left to kubeadm. A move removes what it moves. */
const operationsIn = (patch: unknown): readonly Operation[] =>
  (Array.isArray(patch) ? patch : []).flatMap((one: unknown): readonly Operation[] => {
    if (!isObject(one) || typeof one['op'] !== 'string' || typeof one['path'] !== 'string') return [];
    const { op, path, value, from } = one;
    return [
      { op, path, value },
      ...(op === 'move' && typeof from === 'string' ? [{ op: 'remove', path: from, value: undefined }] : []),
    ];
  });

/** Where kubeadm writes all arguments of a static pod: app/phases/controlplane and app/phases/etcd. */
const COMMAND = '/spec/containers/0/command';

/** True if an operation takes arguments away, or puts others into their place. */
const takesArguments = ({ op, path }: Operation): boolean =>
  op === 'replace' || op === 'remove'
    ? COMMAND.startsWith(path) || path.startsWith(`${COMMAND}/`)
    : // What is added to a list moves the others; what is added to a mapping takes the place of what was there.
      ['add', 'move', 'copy'].includes(op) && [COMMAND, '/spec/containers', '/spec', ''].includes(path);

/** The component's own containers in a strategic or merge patch. */
const containersOf = (component: string, patch: unknown): readonly Readonly<Record<string, unknown>>[] => {
  const containers = below(patch, 'spec', 'containers');
  return (Array.isArray(containers) ? containers.filter(isObject) : []).filter(
    ({ name }) => name === undefined || name === component,
  );
};

/** What a patch of a static pod does to the arguments that kbuild and kubeadm set. */
function argumentProblems(name: string, patch: unknown, isOwnNetwork: boolean): readonly string[] {
  const component = podOf(name);
  if (component === undefined) return [];
  const operations = operationsIn(patch);
  const containers = containersOf(component, patch);
  const another = `add one with ${component}+json.yaml at ${COMMAND}/-`;
  const instead = `use extraArgs of kubeadm.cluster for ${component}, or ${another}`;
  const owned = textsIn([operations.map(({ value }) => value), containers]).flatMap((text) => {
    const [, flag, value] = /^--([\w-]+)(?:=(.*))?$/s.exec(text) ?? [];
    return (
      (flag === undefined ? undefined : ownedFlag(component, { name: flag, value: value ?? 'true' }, isOwnNetwork)) ??
      []
    );
  });
  return [
    ...owned,
    ...operations
      .filter(takesArguments)
      .map(({ op, path }) => `${op} ${path}: takes arguments away that kbuild and kubeadm set; ${instead}`),
    ...containers
      .filter(({ command }) => command !== undefined)
      .map(() => `command: a patch replaces the whole list, and what kbuild and kubeadm set in it; ${instead}`),
  ];
}

/** Fields of the kubelet's configuration in a patch that kbuild sets. */
const kubeletProblems = (patch: unknown): readonly string[] =>
  [
    isObject(patch) ? patch : {},
    ...operationsIn(patch).map(({ path }) =>
      path
        .split('/')
        .slice(1)
        .reduceRight<unknown>((inner, key) => ({ [key]: inner }), null),
    ),
  ].flatMap(ownedKubeletFields);

/** What the inventory of a patch says. */
interface Around {
  readonly version: string;
  /** The user installs the network. */
  readonly isOwnNetwork: boolean;
}

/**
 * What is wrong in a patch file of kubeadm, as far as the tables of the version tell: fields and types of the kubelet's
 * configuration and of pods, and flags of components, also those that kbuild sets itself. A version that is newer than
 * the tables may have more of them.
 */
export function patchProblems(name: string, content: string, { version, isOwnNetwork }: Around): readonly string[] {
  const { minor, isSure } = knownVersion(version);
  return documentsIn(content).flatMap((patch) => {
    if (name.startsWith('kubeletconfiguration'))
      return [
        ...(isSure && isObject(patch) ? unknownIn(patch, 'KubeletConfiguration', minor) : []),
        ...kubeletProblems(patch),
      ];
    const keys = specOf(name);
    return [
      ...(isObject(patch) && keys.length === 1 ? podProblems(patch, name.includes('+merge.')) : []),
      ...(isSure ? unknownIn(below(patch, ...keys), 'PodSpec', minor, keys) : []),
      ...(isSure ? unknownFlags(name, patch, minor) : []),
      ...argumentProblems(name, patch, isOwnNetwork),
    ];
  });
}

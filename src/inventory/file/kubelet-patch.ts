import { parseAllDocuments } from 'yaml';
import { flagType, knownVersion } from '../../kubeadm/tables.value.ts';
import { mismatches } from '../../kubeadm/typed.value.ts';
import { isObject } from '../../shell/decode.ts';
import { showPath } from '../schema/rule.ts';
import { below } from './rules/kubernetes/places.ts';

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

/** Flags of a static pod's component that this version does not have. */
function unknownFlags(name: string, patch: unknown, minor: number): readonly string[] {
  const component = PODS.find((one) => name.startsWith(one));
  if (component === undefined) return [];
  const spec = isObject(patch) ? patch['spec'] : Array.isArray(patch) ? patch : [];
  return textsIn(spec)
    .flatMap((text) => /^--([\w-]+)(?:=|$)/.exec(text)?.[1] ?? [])
    .filter((flag) => flagType(component, flag, minor) === undefined)
    .map((flag) => `${component} of Kubernetes 1.${String(minor)} has no flag --${flag}, and would end at once`);
}

/**
 * What is wrong in a patch file of kubeadm, as far as the tables of the version tell: fields and types of the kubelet's
 * configuration and of pods, and flags of components. A version that is newer than the tables may have more of them.
 */
export function patchProblems(name: string, content: string, version: string): readonly string[] {
  const { minor, isSure } = knownVersion(version);
  return documentsIn(content).flatMap((patch) => {
    if (name.startsWith('kubeletconfiguration'))
      return isSure && isObject(patch) ? unknownIn(patch, 'KubeletConfiguration', minor) : [];
    const keys = specOf(name);
    return [
      ...(isObject(patch) && keys.length === 1 ? podProblems(patch, name.includes('+merge.')) : []),
      ...(isSure ? unknownIn(below(patch, ...keys), 'PodSpec', minor, keys) : []),
      ...(isSure ? unknownFlags(name, patch, minor) : []),
    ];
  });
}

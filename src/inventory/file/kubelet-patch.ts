import { parseAllDocuments } from 'yaml';
import { flagType, knownVersion } from '../../kubeadm/tables.value.ts';
import { mismatches } from '../../kubeadm/typed.value.ts';
import { isObject } from '../../shell/decode.ts';
import { showPath } from '../schema/path.ts';

/**
 * What a kubelet would not know in a patch of its configuration (`kubeletconfiguration…`), each with its field. Empty
 * for a JSON patch, for directives of strategic patches, and for a version that is newer than the tables.
 */
function kubeletPatchProblems(content: string, version: string): readonly string[] {
  const { minor, isSure } = knownVersion(version);
  if (!isSure) return [];
  return parseAllDocuments(content, { logLevel: 'silent' }).flatMap((document) => {
    const patch: unknown = document.errors.length > 0 ? undefined : document.toJS();
    if (!isObject(patch)) return [];
    return mismatches(patch, 'KubeletConfiguration', minor)
      .filter(({ keys }) => !['apiVersion', 'kind'].includes(String(keys[0])))
      .filter(({ keys }) => !keys.some((key) => String(key).startsWith('$')))
      .map(({ keys, message }) => `${showPath(keys)}: ${message}`);
  });
}

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

/**
 * What is wrong in a patch of a static pod, as far as the tables tell: fields of the pod itself, and flags that its
 * component does not have in this version. Empty for patches of other targets.
 */
function podPatchProblems(name: string, content: string, version: string): readonly string[] {
  const component = PODS.find((one) => name.startsWith(one));
  if (component === undefined) return [];
  const { minor, isSure } = knownVersion(version);
  return parseAllDocuments(content, { logLevel: 'silent' }).flatMap((document) => {
    const patch: unknown = document.errors.length > 0 ? undefined : document.toJS();
    const spec = isObject(patch) ? patch['spec'] : Array.isArray(patch) ? patch : [];
    const flags = textsIn(spec).flatMap((text) => /^--([\w-]+)(?:=|$)/.exec(text)?.[1] ?? []);
    return [
      ...(isObject(patch) ? podProblems(patch, name.includes('+merge.')) : []),
      ...flags
        .filter((flag) => isSure && flagType(component, flag, minor) === undefined)
        .map((flag) => `${component} of Kubernetes 1.${String(minor)} has no flag --${flag}, and would end at once`),
    ];
  });
}

/** What is wrong in a patch file of kubeadm, as far as the tables of the version tell. */
export const patchProblems = (name: string, content: string, version: string): readonly string[] =>
  name.startsWith('kubeletconfiguration')
    ? kubeletPatchProblems(content, version)
    : podPatchProblems(name, content, version);

import { fieldNames, fieldOf, isStruct, type TypedField, valuesOf } from '../kubeadm/tables.value.ts';
import { unknownField } from '../kubeadm/typed.value.ts';
import { docsPage, minorNumber, supportedMinors } from '../versions.ts';
import { type Explanation, firstSentence } from './explain.ts';

const NEWEST = supportedMinors.at(-1)!;

/** Where an inventory has fields of other programs, and the type that they begin with. */
const ROOTS: readonly (readonly [RegExp, string])[] = [
  [/^(?:(?:roles|groups)\.[^.]+\.|hosts(?:\[\d*\])?\.)?kubelet\.config\.(.+)$/, 'KubeletConfiguration'],
  [/^kubeadm\.cluster\.(.+)$/, 'ClusterConfiguration'],
  [/^kubeadm\.init\.(.+)$/, 'InitConfiguration'],
  [/^kubeadm\.join\.(.+)$/, 'JoinConfiguration'],
  [/^kubeadm\.reset\.(.+)$/, 'ResetConfiguration'],
  [/^kubeadm\.kubeProxy\.(.+)$/, 'KubeProxyConfiguration'],
];

const WORDS: Readonly<Record<string, string>> = {
  bool: '`true`, `false`',
  int32: 'whole number',
  int64: 'whole number',
  uint32: 'whole number',
  duration: 'duration, e.g. 5m0s',
  nanoseconds: 'duration, e.g. 5s',
  quantity: 'quantity of Kubernetes, e.g. 500m or 1Gi',
  any: 'anything',
};

function typeText(type: string, minor: number): string {
  if (type === '[]Arg') return 'list of name and value';
  if (type.startsWith('[]')) return `list of ${typeText(type.slice(2), minor)}`;
  if (type.startsWith('{}')) return `mapping of names to ${typeText(type.slice(2), minor)}`;
  if (isStruct(type)) return 'mapping';
  const values = valuesOf(type, minor)?.filter((value) => value !== '');
  return values?.map((value) => `\`${value}\``).join(', ') ?? WORDS[type] ?? type;
}

/** The default that a documentation names: `Default: 110`, `Default value is 'kubernetes'`. */
const defaultIn = (documentation: string): string | undefined =>
  /\bDefault(?: value)?(?::| is) ["'`]?([^\s"'`]+?)["'`]?\.?(?= |$)/.exec(documentation)?.[1];

function page(name: string, field: TypedField, minor: number): Explanation {
  const { type, documentation, since } = field;
  const named = defaultIn(documentation);
  // Go's word for no value.
  const preset = named === 'nil' ? undefined : named;
  const item = type.replace(/^(?:\[\]|\{\})/, '');
  const age = since === undefined ? '' : `From Kubernetes ${since} on. `;
  return {
    kind: 'setting',
    name,
    title: '',
    why: `${age}${documentation === '' ? 'Its sources say nothing about it.' : documentation}`,
    type: typeText(type, minor),
    required: false,
    ...(preset === undefined ? {} : { default: preset }),
    ...(isStruct(item)
      ? {
          inside: fieldNames(item, minor).map((inner) => ({
            name: inner,
            summary: firstSentence(fieldOf(item, inner, minor)!.documentation),
          })),
        }
      : {}),
    more: [docsPage('changing-a-cluster.md#what-overrides-are-held-against')],
  };
}

/**
 * A field of kubeadm's, the kubelet's or kube-proxy's configuration as the newest minor has it, by its path in the
 * inventory (`kubelet.config.maxPods`): type, default and documentation of its sources. A text says why there is none;
 * undefined for a path that leads elsewhere.
 */
export function fieldExplained(path: string): Explanation | string | undefined {
  const minor = minorNumber(NEWEST);
  for (const [pattern, root] of ROOTS) {
    const [, rest] = pattern.exec(path) ?? [];
    if (rest === undefined) continue;
    let type = root;
    let found: TypedField | undefined;
    for (const name of rest.replaceAll(/\[\d*\]/g, '').split('.')) {
      // Below names that the operator chooses, the mapping itself is explained.
      if (found?.type.startsWith('{}') === true) break;
      found = fieldOf(type, name, minor);
      if (found === undefined) return `${path}: ${unknownField(type, name, minor)}`;
      type = found.type.replace(/^\[\]/, '');
    }
    return page(path, found!, minor);
  }
  return undefined;
}

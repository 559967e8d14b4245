/**
 * Small overrides of every field that the tables know, right ones and wrong ones, with which `validate` and kubeadm are
 * held against each other.
 */
import { fieldNames, fieldOf, isStruct, valuesOf } from '../../src/kubeadm/tables.value.ts';

/** The documents of an inventory, and their types. */
export const KINDS = {
  cluster: 'ClusterConfiguration',
  init: 'InitConfiguration',
  join: 'JoinConfiguration',
  reset: 'ResetConfiguration',
  kubeProxy: 'KubeProxyConfiguration',
  kubelet: 'KubeletConfiguration',
} as const;

export type Kind = keyof typeof KINDS;

/** One override. */
export interface Override {
  readonly kind: Kind;
  /** `apiServer.certSANs: a text for a list` */
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Values of fields that are more than a type: see the rules of `validate`, and kubeadm's validation. */
const RIGHT: Readonly<Record<string, unknown>> = {
  certSANs: ['api.example.com'],
  serverCertSANs: ['api.example.com'],
  peerCertSANs: ['10.0.0.1'],
  dataDir: '/var/lib/etcd2',
  unmountFlags: ['MNT_DETACH'],
  skipPhases: ['preflight'],
  ignorePreflightErrors: ['Swap'],
  enforceNodeAllocatable: ['pods'],
  evictionHard: { 'memory.available': '100Mi' },
  evictionSoft: {},
  evictionSoftGracePeriod: { 'memory.available': '1m0s' },
  evictionMinimumReclaim: { 'memory.available': '100Mi' },
  nodePortAddresses: ['10.0.0.0/24'],
  excludeCIDRs: ['10.0.0.0/24'],
  hairpinMode: 'none',
  topologyManagerPolicy: 'restricted',
  topologyManagerScope: 'pod',
  cpuManagerPolicy: 'none',
  memoryManagerPolicy: 'None',
  swapBehavior: 'NoSwap',
  format: 'json',
  extraArgs: [{ name: 'feature-gates', value: '' }],
  maxParallelImagePulls: 1,
  imageGCHighThresholdPercent: 90,
  containerLogMaxFiles: 5,
  detectLocalMode: 'ClusterCIDR',
  certificateValidityPeriod: '8760h',
  caCertificateValidityPeriod: '87600h',
};

const SCALARS: Readonly<Record<string, unknown>> = {
  text: 'a',
  bool: true,
  int32: 7,
  uint32: 7,
  int64: 7,
  number: 0.5,
  duration: '5m0s',
  nanoseconds: '5s',
  quantity: '1Gi',
  time: '2030-01-02T15:04:05Z',
  any: {},
};

/** A value that a field of this type can have; gates and free mappings are empty. */
function right(type: string, minor: number): unknown {
  if (type.startsWith('[]')) return [right(type.slice(2), minor)];
  if (type.startsWith('{}')) return {};
  if (isStruct(type)) return {};
  return SCALARS[type] ?? valuesOf(type, minor)?.find((value) => value !== '');
}

/** Values that no field of this type can have, by what is wrong with them. */
function wrong(type: string): Readonly<Record<string, unknown>> {
  if (type === 'any') return {};
  if (type === '[]Arg')
    return { 'a mapping for a list': { profiling: 'false' }, 'a number for a text': [{ name: 'v', value: 4 }] };
  if (type.startsWith('[]')) return { 'a text for a list': 'a', 'a mapping for a list': { a: 'b' } };
  if (type.startsWith('{}')) return { 'a list for a mapping': ['a'], 'a text for a mapping': 'a' };
  if (isStruct(type)) return { 'true for a mapping': true, 'an unknown field': { noSuchField: 1 } };
  if (type === 'bool') return { 'a text for true': 'true', 'a number for true': 1 };
  if (/^u?int/.test(type)) return { 'a text for a number': '7', 'a fraction for a whole number': 7.5 };
  if (type === 'number') return { 'a text for a number': '0.5' };
  if (type === 'quantity') return { 'a word for a quantity': 'much' };
  if (/^(?:duration|nanoseconds)$/.test(type)) return { 'a word for a duration': 'soon', 'a unit of days': '1d' };
  if (type === 'time') return { 'a word for a time': 'soon' };
  return { 'a number for a text': 7, 'a list for a text': ['a'] };
}

const nested = (path: readonly string[], value: unknown): Readonly<Record<string, unknown>> =>
  path.reduceRight<unknown>(
    (inner, name) => (name.endsWith('[]') ? { [name.slice(0, -2)]: [inner] } : { [name]: inner }),
    value,
  ) as Readonly<Record<string, unknown>>;

/** Fields that refer to themselves are not followed. */
const MAX_DEPTH = 4;

function ofType(kind: Kind, type: string, minor: number, path: readonly string[] = []): readonly Override[] {
  if (path.length >= MAX_DEPTH) return [];
  const one = (at: readonly string[], about: string, value: unknown): Override => ({
    kind,
    name: `${at.join('.')}: ${about}`,
    value: nested(at, value),
  });
  return [
    one([...path, `noSuchField`], 'an unknown field', 1),
    ...fieldNames(type, minor).flatMap((name, i) => {
      const at = [...path, name];
      const field = fieldOf(type, name, minor)!.type;
      const inner = field.replace(/^\[\]/, '');
      const turned = name[0] === name[0]!.toLowerCase() ? name[0].toUpperCase() : name[0]!.toLowerCase();
      return [
        one(at, 'right', RIGHT[name] ?? right(field, minor)),
        // One way to be wrong a field: a type has enough of them for all ways.
        ...(i % 3 === 0
          ? [one([...path, `${turned}${name.slice(1)}`], 'another case', RIGHT[name] ?? right(field, minor))]
          : []),
        ...Object.entries(wrong(field))
          .filter((_, way, ways) => way === i % ways.length)
          .map(([about, value]) => one(at, about, value)),
        ...(isStruct(inner) ? ofType(kind, inner, minor, field === inner ? at : [...path, `${name}[]`]) : []),
      ];
    }),
  ];
}

/** Overrides of all fields of a minor. */
export const overrideCorpus = (minor: number): readonly Override[] =>
  (Object.keys(KINDS) as Kind[]).flatMap((kind) => ofType(kind, KINDS[kind], minor));

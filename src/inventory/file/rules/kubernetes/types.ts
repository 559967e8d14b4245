import { knownVersion, phasesOf } from '../../../../kubeadm/tables.value.ts';
import { enumProblem, type Mismatch, mismatches } from '../../../../kubeadm/typed.value.ts';
import { nearest } from '../../../../shell/text.ts';
import { type Path, problem, type Rule, type Violation, warning } from '../../../schema/rule.ts';
import type { InventoryFile } from '../../../schema/schema.ts';
import { isOwnedField } from '../owned.ts';
import { below, DOCUMENT_TYPES, DOCUMENTS, kubeletPlaces } from './places.ts';

/** A version that is newer than the tables may know what they do not: then kbuild warns. */
const severityFor = (version: string): typeof problem => {
  const { isSure, source } = knownVersion(version);
  return isSure ? problem : (path, message) => warning(path, `${message} (as of Kubernetes ${source})`);
};

const given = (object: unknown): boolean =>
  typeof object === 'object' && object !== null && Object.keys(object).length > 0;

/** Fields of text whose values the sources list elsewhere: pkg/kubelet/apis/config/validation/validation.go. */
const KUBELET_VALUES: Readonly<Record<string, readonly string[]>> = {
  hairpinMode: ['promiscuous-bridge', 'hairpin-veth', 'none'],
  topologyManagerPolicy: ['none', 'best-effort', 'restricted', 'single-numa-node'],
  topologyManagerScope: ['container', 'pod'],
  cpuManagerPolicy: ['none', 'static'],
  memoryManagerPolicy: ['None', 'Static'],
  'memorySwap.swapBehavior': ['NoSwap', 'LimitedSwap'],
  'logging.format': ['text', 'json'],
};

const valueMismatches = (config: unknown): readonly Mismatch[] =>
  Object.entries(KUBELET_VALUES).flatMap(([field, allowed]) => {
    const value = below(config, ...field.split('.'));
    return typeof value !== 'string' || value === '' || allowed.includes(value)
      ? []
      : [{ keys: field.split('.'), message: enumProblem(value, allowed) }];
  });

/** Fields that rules of their own are about. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'certificateValidityPeriod',
  'caCertificateValidityPeriod',
  'localAPIEndpoint.bindPort',
]);

/** What a strict reader refuses in an override; what kbuild owns is refused with other words. */
function violations(
  object: Readonly<Record<string, unknown>>,
  type: string,
  path: Path,
  version: string,
): readonly Violation[] {
  if (!given(object)) return [];
  const kind = path[0] === 'kubeadm' ? String(path[1]) : 'kubelet';
  const written = severityFor(version);
  const found = [
    ...mismatches(object, type, knownVersion(version).minor),
    ...(type === 'KubeletConfiguration' ? valueMismatches(object) : []),
  ];
  return found
    .filter(({ keys }) => !isOwnedField(kind, keys) && !ELSEWHERE.has(keys.join('.')))
    .map(({ keys, message }) => written([...path, ...keys], message));
}

/** kubeadm, the kubelet and kube-proxy know the fields of their overrides, and can read their values. */
export const typedOverrides: Rule = (file) => [
  ...DOCUMENTS.flatMap((kind) =>
    violations(file.kubeadm[kind], DOCUMENT_TYPES[kind], ['kubeadm', kind], file.kubernetes.version),
  ),
  ...kubeletPlaces(file).flatMap(([path, { config }]) =>
    violations(config, 'KubeletConfiguration', [...path, 'config'], file.kubernetes.version),
  ),
];

/** kubeadm knows the phases that it is to skip. */
export const skippedPhases: Rule = ({ kubeadm, kubernetes: { version } }) =>
  (['init', 'join', 'reset'] as const).flatMap((command) => {
    const skipped: unknown = kubeadm[command]['skipPhases'];
    if (!Array.isArray(skipped) || skipped.length === 0) return [];
    const { minor } = knownVersion(version);
    const { names, elsewhere } = phasesOf(command, minor);
    return (skipped as readonly unknown[]).flatMap((name, i) => {
      if (typeof name !== 'string' || names.includes(name)) return [];
      const path = ['kubeadm', command, 'skipPhases', i];
      const where = elsewhere(name);
      const close = nearest(name, names);
      const hint =
        where === undefined ? (close === undefined ? '' : `; did you mean ${close}?`) : ` (${where}); remove it`;
      return [severityFor(version)(path, `kubeadm ${command} of 1.${minor} has no phase "${name}"${hint}`)];
    });
  });

/** Gates that the documents and the kubelets' settings switch, with their places. */
export const gatePlaces = (
  file: InventoryFile,
): readonly (readonly [path: Path, set: 'kubernetes' | 'kubeadm', gates: unknown])[] =>
  [
    [['kubeadm', 'cluster', 'featureGates'], 'kubeadm', file.kubeadm.cluster['featureGates']] as const,
    [['kubeadm', 'kubeProxy', 'featureGates'], 'kubernetes', file.kubeadm.kubeProxy['featureGates']] as const,
    ...kubeletPlaces(file).map(
      ([path, { config }]) => [[...path, 'config', 'featureGates'], 'kubernetes', config['featureGates']] as const,
    ),
  ].filter(([, , gates]) => given(gates));

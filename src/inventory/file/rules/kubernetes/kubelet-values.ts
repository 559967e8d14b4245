import { quantityOf } from '../../../../kubeadm/typed.value.ts';
import { isObject } from '../../../../shell/decode.ts';
import { type Path, problem, type Rule, type Violation, warning } from '../../../schema/rule.ts';
import { below, kubeletPlaces } from './places.ts';

/*
 * What a kubelet checks when it starts, and neither kubeadm nor the types know: with other values it does not start.
 * Source: pkg/kubelet/apis/config/validation/validation.go, pkg/kubelet/eviction/helpers.go.
 */

type Config = Readonly<Record<string, unknown>>;

const PORT = [0, 65_535] as const;
const NOT_NEGATIVE = [0, Infinity] as const;

/** What whole numbers may be. */
const BOUNDS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  maxPods: NOT_NEGATIVE,
  podsPerCore: NOT_NEGATIVE,
  eventBurst: NOT_NEGATIVE,
  eventRecordQPS: NOT_NEGATIVE,
  registryBurst: NOT_NEGATIVE,
  registryPullQPS: NOT_NEGATIVE,
  kubeAPIBurst: NOT_NEGATIVE,
  kubeAPIQPS: NOT_NEGATIVE,
  maxOpenFiles: NOT_NEGATIVE,
  imageGCHighThresholdPercent: [0, 100],
  imageGCLowThresholdPercent: [0, 100],
  iptablesDropBit: [0, 31],
  iptablesMasqueradeBit: [0, 31],
  oomScoreAdj: [-1000, 1000],
  nodeStatusMaxImages: [-1, Infinity],
  nodeLeaseDurationSeconds: [1, Infinity],
  containerLogMaxFiles: [2, Infinity],
  containerLogMaxWorkers: [1, Infinity],
  maxParallelImagePulls: [1, Infinity],
  port: [1, 65_535],
  readOnlyPort: PORT,
  healthzPort: PORT,
};

const outOfBounds = (config: Config): readonly (readonly [Path, string])[] =>
  Object.entries(BOUNDS).flatMap(([name, [least, most]]) => {
    const value = config[name];
    if (typeof value !== 'number' || (value >= least && value <= most)) return [];
    const allowed =
      most === Infinity ? `at least ${String(least)}` : `a number from ${String(least)} to ${String(most)}`;
    return [[[name], `must be ${allowed}`] as const];
  });

/** Signals for which a kubelet can evict pods. */
const SIGNALS: readonly string[] = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
];

function thresholdProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const [, percent] = /^([\d.]+)%$/.exec(value) ?? [];
  if (percent !== undefined)
    return Number(percent) >= 0 && Number(percent) <= 100 ? undefined : 'must be a percentage from 0% to 100%';
  return quantityOf(value) === undefined ? 'must be a quantity or a percentage, e.g. 100Mi or 10%' : undefined;
}

const evictions = (config: Config): readonly (readonly [Path, string])[] =>
  ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'].flatMap((field) => {
    const thresholds = config[field];
    if (!isObject(thresholds)) return [];
    return Object.entries(thresholds).flatMap(([signal, value]): readonly (readonly [Path, string])[] => {
      if (!SIGNALS.includes(signal))
        return [[[field, signal], `the kubelet knows no such signal; it has ${SIGNALS.join(', ')}`]];
      const wrong = field === 'evictionSoftGracePeriod' ? undefined : thresholdProblem(value);
      return wrong === undefined ? [] : [[[field, signal], wrong]];
    });
  });

const ENFORCED: readonly string[] = [
  'none',
  'pods',
  'system-reserved',
  'system-reserved-compressible',
  'kube-reserved',
  'kube-reserved-compressible',
];

const enforcements = (config: Config): readonly (readonly [Path, string])[] => {
  const list = config['enforceNodeAllocatable'];
  if (!Array.isArray(list)) return [];
  return (list as readonly unknown[]).flatMap((name, i): readonly (readonly [Path, string])[] => {
    const path = ['enforceNodeAllocatable', i];
    if (typeof name !== 'string') return [];
    if (!ENFORCED.includes(name)) return [[path, `must be one of ${ENFORCED.join(', ')}`]];
    if (name === 'none' && list.length > 1) return [[path, 'must stand alone']];
    return list.indexOf(name) < i ? [[path, 'stands above already; remove it']] : [];
  });
};

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '0';

const reserved = (config: unknown, name: string): number =>
  ['kubeReserved', 'systemReserved'].reduce(
    (sum, field) => sum + (quantityOf(textOf(below(config, field, name))) ?? 0),
    0,
  );

/** A contradiction: whether it holds, the field that needs the others, and what it needs. */
type Contradiction = readonly [holds: boolean, field: string, message: string];

function aboutResources(config: Config): readonly Contradiction[] {
  const soft = isObject(config['evictionSoft']) ? Object.keys(config['evictionSoft']) : [];
  const graceless = soft.filter((signal) => below(config, 'evictionSoftGracePeriod', signal) === undefined);
  return [
    [
      config['cpuManagerPolicy'] === 'static' && reserved(config, 'cpu') === 0 && !config['reservedSystemCPUs'],
      'cpuManagerPolicy',
      'static needs CPU that is reserved: set kubeReserved.cpu, systemReserved.cpu or reservedSystemCPUs',
    ],
    [
      config['memoryManagerPolicy'] === 'Static' && config['reservedMemory'] === undefined,
      'memoryManagerPolicy',
      'Static needs reservedMemory, which sums up to what kubeReserved, systemReserved and evictionHard keep',
    ],
    [
      graceless.length > 0,
      'evictionSoft',
      `needs evictionSoftGracePeriod of ${graceless.join(', ')}, e.g. { ${graceless[0] ?? ''}: 1m30s }`,
    ],
    [
      Boolean(config['reservedSystemCPUs']) && Boolean(config['systemReservedCgroup'] ?? config['kubeReservedCgroup']),
      'reservedSystemCPUs',
      'goes with neither systemReservedCgroup nor kubeReservedCgroup; remove one of them',
    ],
  ];
}

function aboutCgroups(config: Config): readonly Contradiction[] {
  const { enforceNodeAllocatable: enforced } = config;
  const list: readonly unknown[] = Array.isArray(enforced) ? enforced : [];
  const named = (part: string) => list.some((one) => String(one).startsWith(part));
  const isOff = Array.isArray(enforced) && list.every((one) => one === 'none');
  return [
    [
      named('kube-reserved') && !config['kubeReservedCgroup'],
      'enforceNodeAllocatable',
      'kube-reserved needs kubeReservedCgroup',
    ],
    [
      named('system-reserved') && !config['systemReservedCgroup'],
      'enforceNodeAllocatable',
      'system-reserved needs systemReservedCgroup',
    ],
    [config['cgroupsPerQOS'] === false && !isOff, 'cgroupsPerQOS', 'false needs enforceNodeAllocatable: [none]'],
  ];
}

function aboutImages(config: Config): readonly Contradiction[] {
  const number = (name: string, preset: number) => (typeof config[name] === 'number' ? config[name] : preset);
  return [
    [
      number('imageGCLowThresholdPercent', 80) >= number('imageGCHighThresholdPercent', 85),
      config['imageGCLowThresholdPercent'] === undefined ? 'imageGCHighThresholdPercent' : 'imageGCLowThresholdPercent',
      'the low threshold (80 by default) must be less than the high one (85 by default)',
    ],
    [
      Number(config['maxParallelImagePulls'] ?? 0) > 1 && config['serializeImagePulls'] !== false,
      'maxParallelImagePulls',
      'more than 1 needs serializeImagePulls: false',
    ],
    [
      config['enableSystemLogQuery'] === true && config['enableSystemLogHandler'] === false,
      'enableSystemLogQuery',
      'needs enableSystemLogHandler',
    ],
  ];
}

/** What several settings of one kubelet say together, by the field that needs the others. */
export const contradictions = (config: Config): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...aboutResources(config), ...aboutCgroups(config), ...aboutImages(config)]
      .filter(([holds]) => holds)
      .map(([, field, message]) => [field, message]),
  );

/**
 * The file of systemd-resolved, which many copy from hosts that have it. kubeadm finds it itself: isServiceActive in
 * cmd/kubeadm/app/componentconfigs/kubelet.go.
 */
const ofResolved = ({ resolvConf }: Config): boolean =>
  typeof resolvConf === 'string' && resolvConf.startsWith('/run/systemd/resolve/');

/** A kubelet starts with the values of its configuration. */
export const kubeletValues: Rule = (file) =>
  kubeletPlaces(file).flatMap(([path, { config }]): readonly Violation[] => [
    ...[...outOfBounds(config), ...evictions(config), ...enforcements(config)].map(([keys, message]) =>
      problem([...path, 'config', ...keys], message),
    ),
    ...(ofResolved(config)
      ? [
          warning(
            [...path, 'config', 'resolvConf'],
            'is there only where systemd-resolved runs, and there kubeadm sets it itself; elsewhere no pod would ' +
              'start: remove it',
          ),
        ]
      : []),
  ]);

/**
 * Which of the lab's tests run when: the core with every `npm test`, the groups in turn in CI, the long ones before a release or after a
 * change of what they prove. `npm run test:lab -- --changed` picks those that a change must run from `MUST_RUN`.
 */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

const LAB = import.meta.dirname;

/** Where a test file of the lab runs: with every `npm test`, in one of CI's groups, or by `npm run test:long`. */
export type Tier = 'core' | 'group' | 'long';

const FOLDERS: Readonly<Record<Tier, readonly string[]>> = {
  core: ['core'],
  group: ['scenarios', '.'],
  long: ['long'],
};

/** Test files of the lab, as paths below test/lab: `core/life.test.ts`. */
export const filesOf = (tier: Tier): readonly string[] =>
  FOLDERS[tier].flatMap((folder) =>
    readdirSync(join(LAB, folder))
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(folder, name)),
  );

/**
 * The files that CI runs together beside the core, one of these groups a run. Each takes about as long as the others, and the longest of its
 * files stands first.
 */
export const GROUPS: readonly (readonly string[])[] = [
  ['scenarios/upgrade.test.ts', 'scenarios/locks.test.ts', 'scenarios/network.test.ts', 'requirements.test.ts'],
  ['scenarios/cluster.test.ts', 'scenarios/interrupted.test.ts', 'scenarios/debian-13.test.ts', 'downloads.test.ts'],
  ['scenarios/variants.test.ts', 'scenarios/secrets.test.ts', 'scenarios/firewall.test.ts', 'test-run.test.ts'],
  ['scenarios/windows.test.ts', 'scenarios/stacked.test.ts', 'scenarios/jobs.test.ts', 'scenarios/channel.test.ts'],
  ['scenarios/certificates.test.ts', 'scenarios/soak.test.ts', 'scenarios/external-etcd.test.ts', 'lab.test.ts'],
  [
    'scenarios/hosts.test.ts',
    'scenarios/packages.test.ts',
    'scenarios/privilege.test.ts',
    'kubeadm-oracle.test.ts',
    'full-down.test.ts',
  ],
  [
    'scenarios/kube-proxy-mode.test.ts',
    'scenarios/ipv6.test.ts',
    'scenarios/faults.test.ts',
    'scenarios/binaries.test.ts',
    'scenarios/preflight.test.ts',
    'scenarios/one-fails.test.ts',
  ],
];

/** The number of the group whose turn it is, from 1, by a commit's hash in hexadecimal. */
export const groupInTurn = (commit: string): number => (Number.parseInt(commit.slice(0, 8), 16) % GROUPS.length) + 1;

const scenario = (...names: readonly string[]): readonly string[] => names.map((name) => `scenarios/${name}.test.ts`);
const long = (...names: readonly string[]): readonly string[] => names.map((name) => `long/${name}.test.ts`);

const ANY = filesOf('core');
const INSTALLS = [...scenario('packages', 'hosts', 'debian-13', 'binaries'), ...long('ubuntu')];
const CONTROL_PLANES = [
  ...scenario('stacked'),
  ...long('stacked', 'every-change', 'undo', 'late-init', 'ownership', 'right-machine'),
];
const UPGRADES = [
  ...scenario('upgrade'),
  ...long('upgrade-chain', 'upgrade-external-etcd', 'upgrade-faults', 'upgrade-interrupted', 'upgrade-kube-vip'),
  ...long('upgrade-patch', 'upgrade-power', 'upgrade-workers', 'restart-gate', 'time-bounds', 'begun'),
];
const AUTHORITIES = [
  ...scenario('certificates'),
  ...long('renew', 'renew-all', 'renew-ca', 'rotate-ca', 'rotate-inner-cas', 'rotate-sa-key', 'expired', 'external-ca'),
  ...long('kubelet-serving'),
];
const ETCD = [
  ...scenario('external-etcd', 'stacked'),
  ...long('external-etcd', 'external-etcd-growth', 'own-etcd', 'etcd-defragment', 'etcd-recover', 'restore', 'damaged'),
];
const BALANCERS = [
  ...long('balancers', 'keepalived', 'returned', 'kube-vip', 'move-endpoint', 'move-to-kube-vip'),
  ...long('local-endpoint'),
];
const SETTINGS = long('changes', 'edited', 'edited-settings', 'settings-killed', 'groups', 'rollout', 'cgroup-driver');
const CONNECTIONS = [
  ...scenario('jobs', 'locks', 'network', 'privilege', 'interrupted', 'channel'),
  ...long('cut', 'deadlines'),
];
const CHECKS = [...scenario('preflight', 'faults'), ...long('health', 'field', 'field-hosts')];
const WINDOWS = [
  ...scenario('windows'),
  ...long('windows-calico', 'windows-host-gw', 'windows-programs', 'windows-services', 'windows-wine'),
];
const RUNTIMES = [
  ...scenario('hosts', 'variants'),
  ...long('runtime-move', 'runtime-version', 'handlers', 'docker', 'docker-move'),
];
const SERVICE_ADDRESSES = long('metallb', 'kube-vip-services');
const NETWORKS = [
  ...scenario('cluster', 'firewall', 'ipv6', 'kube-proxy-mode'),
  ...long('calico', 'charts', 'cilium', 'ipv6-first', 'conformance', 'service-subnets', 'dns'),
  ...SERVICE_ADDRESSES,
  ...long('windows-calico', 'windows-host-gw'),
];
const BACKUPS = long('backup', 'all-lost', 'restore');
const SESSIONS = [
  ...scenario('interrupted', 'one-fails', 'secrets', 'soak'),
  ...long('record', 'restarted', 'gone', 'absent', 'asleep', 'lock-lease', 'leaks', 'one-of-ten', 'soak', 'hooks'),
];

/**
 * The lab's tests that a change below a path must run, beside the core. The longest path that a file lies below counts. Each folder of src
 * and templates stands here, and each test of the lab.
 */
export const MUST_RUN: Readonly<Record<string, readonly string[]>> = {
  'src/backup': BACKUPS,
  'src/balancer': BALANCERS,
  'src/certificates': AUTHORITIES,
  'src/cli': long('release'),
  '.ci/release': long('release'),
  'src/cluster': [...CONTROL_PLANES, ...long('replaced', 'damaged')],
  'src/cluster/fleet': [...CHECKS, ...scenario('cluster', 'hosts', 'channel'), ...long('arm64', 'few-processes')],
  'src/commands': [...scenario('cluster', 'stacked'), ...long('every-change', 'reboot')],
  'src/engine': [...SESSIONS, ...scenario('locks'), ...long('changes', 'rollout')],
  'src/etcd': ETCD,
  'src/host': [...INSTALLS, ...CHECKS, ...scenario('variants'), ...long('reboot', 'changes', 'rollout')],
  'src/host/packages': [...INSTALLS, ...scenario('variants')],
  'src/inventory': [
    ...scenario('variants'),
    'kubeadm-oracle.test.ts',
    ...long('older-kubeadm', 'inventories', 'groups', 'charts'),
  ],
  'templates/tables': [
    ...scenario('variants'),
    'kubeadm-oracle.test.ts',
    ...long('older-kubeadm', 'inventories', 'groups'),
  ],
  'src/kubeadm': [...CONTROL_PLANES, ...SETTINGS, ...scenario('cluster'), ...long('inventories')],
  'src/network': NETWORKS,
  // Texts alone.
  'src/refusals': [],
  'src/report': long('record', 'leaks'),
  'src/runtime': RUNTIMES,
  'src/session': SESSIONS,
  'src/shell': CONNECTIONS,
  'src/ssh': CONNECTIONS,
  'src/upgrade': UPGRADES,
  'src/windows': WINDOWS,
  src: scenario('cluster'),
  'templates/balancer': BALANCERS,
  'templates/certificates': AUTHORITIES,
  'templates/cli': [],
  'templates/cluster': [...CONTROL_PLANES, ...long('few-processes')],
  'templates/engine': scenario('locks'),
  'templates/etcd': ETCD,
  'templates/host': [...INSTALLS, ...CHECKS, ...long('few-processes')],
  'templates/host/packages': INSTALLS,
  'templates/kubeadm': [...CONTROL_PLANES, ...SETTINGS],
  'templates/network': NETWORKS,
  'templates/report': [],
  'templates/runtime': RUNTIMES,
  'templates/session': SESSIONS,
  'templates/ssh': CONNECTIONS,
  'templates/upgrade': UPGRADES,
  'templates/windows': WINDOWS,
  inventories: long('inventories'),
  'test/demo': long('demo-docker'),
  'test/lab': filesOf('group').filter((file) => !file.includes('/')),
  docs: [],
};

/** The folders of `MUST_RUN` that lie around a path, the nearest first. */
const around = (path: string): readonly string[] =>
  Object.keys(MUST_RUN)
    .filter((folder) => path.startsWith(`${folder}/`))
    .toSorted((a, b) => b.length - a.length);

/** The lab's test files that a change of these files must run: the core, and what `MUST_RUN` says. Paths below test/lab, without a repetition. */
export function filesFor(changed: readonly string[]): readonly string[] {
  const own = changed.flatMap((path) =>
    /^test\/lab\/.*\.test\.ts$/.test(path) ? [path.slice('test/lab/'.length)] : [],
  );
  const named = changed.flatMap((path) => {
    const [nearest] = around(path);
    return nearest === undefined ? [] : MUST_RUN[nearest]!;
  });
  const touchesHosts = changed.some((path) => /^(?:src|templates|test\/lab)\//.test(path));
  return [...new Set([...(touchesHosts ? ANY : []), ...own, ...named])];
}

/**
 * What `npm run test:lab -- --networks` runs: each network plugin, family, mode of kube-proxy, endpoint without a virtual address and kind of
 * addresses for Services, the long ones too. Cilium, Calico and MetalLB are compiled where they are not there yet.
 */
export const NETWORK_FILES: readonly string[] = [
  'core/dual-stack.test.ts',
  ...scenario('ipv6', 'kube-proxy-mode'),
  ...long('ipv6-first', 'local-endpoint', 'calico', 'cilium', 'service-subnets', 'dns'),
  ...SERVICE_ADDRESSES,
];

/** `life` of `core/life.test.ts`. */
export const nameOf = (file: string): string => basename(file, '.test.ts');

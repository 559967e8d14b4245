/** Runs as their events, for reporters: one of 3 hosts and one of 200. */
import type { Event } from '../../src/engine/event.ts';
import type { Phase } from '../../src/engine/step.ts';

type Cue =
  | Event
  /** The clock, in seconds since the beginning. */
  | { readonly atS: number }
  /** The screen is compared. */
  | { readonly moment: string }
  /** Goes on when the window has so many columns. */
  | { readonly columns: number }
  /** Something else that is written to the terminal. */
  | { readonly text: string };

/** A run, and what happens in it. */
export interface Play {
  readonly phases: readonly Phase[];
  readonly events: readonly Cue[];
}

const phase = (name: string, title: string): Phase => ({ kind: 'cluster', name, title, hosts: [], steps: [] });

const PHASES = [
  phase('prepare', 'Prepare hosts'),
  phase('runtime', 'Install the container runtime'),
  phase('packages', 'Install Kubernetes'),
  phase('images', 'Pull images'),
  phase('lb-prepare', 'Prepare load balancers'),
  phase('lb-install', 'Install load balancers'),
  phase('lb-configure', 'Configure load balancers'),
  phase('etcd-undo', 'Undo half-finished etcd members'),
  phase('etcd-start', 'Install etcd'),
  phase('etcd-join', 'Join etcd members'),
  phase('undo', 'Undo half-finished joins'),
  phase('init', 'Initialize the cluster'),
  phase('network', 'Install the pod network'),
  phase('settings', 'Configure the control plane'),
  phase('join-control', 'Join control planes'),
  phase('join', 'Join workers'),
  phase('gone', 'Remove hosts that are gone'),
  phase('label', 'Label nodes'),
  phase('manifests', 'Apply manifests'),
  phase('lb-stop', 'Stop former load balancers'),
  phase('verify', 'Verify nodes'),
  phase('verify-control', 'Verify the control plane'),
];

const named = (...names: readonly string[]): readonly Phase[] => PHASES.filter(({ name }) => names.includes(name));

const titleOf = (name: string): string => PHASES.find((one) => one.name === name)!.title;

const begins = (name: string, hosts: readonly string[]): readonly Cue[] => [
  { kind: 'phase-started', phase: name, title: titleOf(name), hosts },
];

const starts = (name: string, host: string, summary?: string): readonly Cue[] => [
  { kind: 'host-started', phase: name, host },
  ...(summary === undefined ? [] : [{ kind: 'changing', phase: name, host, step: name, summary } as const]),
];

const ends = (name: string, host: string, changes: number, seconds: number): readonly Cue[] => [
  { kind: 'host-done', phase: name, host, changes, durationMs: seconds * 1000 },
];

const done = (name: string, changes: number): readonly Cue[] => [
  { kind: 'phase-done', phase: name, changes, durationMs: 1 },
];

/** A phase in which every host changes once. */
const through = (name: string, hosts: readonly string[], seconds: number): readonly Cue[] => [
  ...begins(name, hosts),
  ...hosts.flatMap((host) => starts(name, host)),
  ...hosts.flatMap((host) => ends(name, host, 1, seconds)),
];

const THREE = ['cp1', 'w1', 'w2-with-a-name-as-long-as-a-cloud-gives-it.eu-central-1.compute.internal'];
const LONG = THREE[2]!;
const INSTALL = 'install kubelet 1.36.3, kubeadm 1.36.3, kubectl 1.36.3 (found none), and hold them';

/** A small cluster: long names, wide characters, a lock, downloads, text above, a failure. */
const three: Play = {
  phases: named('prepare', 'packages', 'images', 'init', 'join', 'verify'),
  events: [
    ...begins('prepare', THREE),
    ...THREE.flatMap((host) => starts('prepare', host)),
    {
      kind: 'changing',
      phase: 'prepare',
      host: 'cp1',
      step: 'hostname',
      summary: '主机名 を設定する: set the hostname 控制平面一号机，位于法兰克福的第三个数据中心 (found ip-10-0-0-1)',
    },
    { moment: 'prepare' },
    { atS: 12 },
    ...THREE.flatMap((host) => ends('prepare', host, 2, 12)),
    ...done('prepare', 6),
    ...begins('packages', THREE),
    ...THREE.flatMap((host) => starts('packages', host, INSTALL)),
    { atS: 14 },
    { kind: 'job-waits', host: 'w1', summary: '/var/lib/dpkg/lock-frontend is held by process 812 (unattended-upgr)' },
    { atS: 20 },
    { kind: 'job-loads', host: 'cp1', bytes: 14_200_000, bytesPerSecond: 1_130_000 },
    { kind: 'job-loads', host: LONG, bytes: 640, bytesPerSecond: 0 },
    { atS: 54 },
    { moment: 'downloads and a lock' },
    {
      text: 'interrupted: what is under way is finished, and nothing else begun; press again to stop at once\nchanges made so far: 6\n',
    },
    { moment: 'text above' },
    ...ends('packages', 'cp1', 1, 42),
    ...ends('packages', 'w1', 1, 42),
    ...ends('packages', LONG, 1, 41),
    ...done('packages', 3),
    ...through('images', THREE, 20),
    { atS: 80 },
    ...done('images', 3),
    ...begins('init', ['cp1']),
    ...starts('init', 'cp1', 'initialize the cluster prod at k8s.example:6443'),
    { atS: 95 },
    { kind: 'settling', phase: 'init', host: 'cp1', step: 'init', summary: 'the API of cp1 serves', waitedMs: 5000 },
    { atS: 96 },
    { moment: 'one host' },
    ...ends('init', 'cp1', 1, 16),
    ...done('init', 1),
    ...begins('join', THREE.slice(1)),
    ...THREE.slice(1).flatMap((host) => starts('join', host, 'join the cluster')),
    { atS: 130 },
    { kind: 'failed', phase: 'join', host: 'w1', step: 'kubeadm-join', summary: 'status 1', exitCode: 4 },
    { moment: 'a failure' },
    ...ends('join', LONG, 1, 34),
    ...done('join', 1),
    { kind: 'done', changes: 14, failed: ['w1'], durationMs: 131_000 },
  ],
};

const WORKERS = Array.from({ length: 200 }, (_, i) => `w${String(i + 1)}`);

const IMAGES =
  'pull registry.k8s.io/kube-proxy:v1.36.3 ghcr.io/flannel-io/flannel:v0.27.4 ghcr.io/flannel-io/flannel-cni-plugin:v1.8.0';

/** A large fleet whose hosts go through overlapping phases at their own pace, and more phases than lines. */
const fleet: Play = {
  phases: PHASES,
  events: [
    ...begins('prepare', WORKERS),
    ...WORKERS.slice(0, 30).flatMap((host) => starts('prepare', host)),
    { moment: 'the first hosts' },
    { atS: 9 },
    ...WORKERS.flatMap((host) => [...starts('prepare', host), ...ends('prepare', host, 3, 4)]),
    ...done('prepare', 600),
    ...through('runtime', WORKERS, 6),
    { atS: 20 },
    ...done('runtime', 200),
    ...begins('packages', WORKERS),
    ...WORKERS.slice(0, 163).flatMap((host) => starts('packages', host, 'install kubelet 1.36.3 (found none)')),
    ...WORKERS.slice(0, 133)
      .filter((host) => host !== 'w7')
      .flatMap((host) => ends('packages', host, 1, 11)),
    { kind: 'failed', phase: 'packages', host: 'w160', step: 'packages', summary: 'status 100', exitCode: 4 },
    ...begins('images', WORKERS),
    ...WORKERS.slice(0, 12)
      .filter((host) => host !== 'w7')
      .flatMap((host) => starts('images', host, IMAGES)),
    { atS: 21 },
    { kind: 'job-waits', host: 'w7', summary: '/var/lib/apt/lists/lock is held by process 40 (apt-get)' },
    { atS: 61 },
    { kind: 'job-loads', host: 'w2', bytes: 123_456_789, bytesPerSecond: 4_100_000 },
    {
      kind: 'job-waits',
      host: 'w3',
      summary: `images since 30 s: ${IMAGES}; connected to 10.0.0.9:443; 900 kB in 30 s`,
    },
    { moment: 'two phases at once' },
    ...WORKERS.slice(0, 12)
      .filter((host) => host !== 'w7')
      .flatMap((host) => ends('images', host, 1, 40)),
    ...ends('packages', 'w7', 1, 60),
    ...WORKERS.slice(133)
      .filter((host) => host !== 'w160')
      .flatMap((host) => ends('packages', host, 1, 20)),
    ...done('packages', 199),
    ...WORKERS.slice(12, 196).flatMap((host) => [...starts('images', host), ...ends('images', host, 1, 15)]),
    ...WORKERS.slice(196).flatMap((host) => starts('images', host, IMAGES)),
    { atS: 3700 },
    { moment: 'the last hosts' },
    ...WORKERS.slice(196).flatMap((host) => ends('images', host, 1, 3639)),
    ...done('images', 200),
    ...[
      'lb-prepare',
      'lb-install',
      'lb-configure',
      'etcd-undo',
      'etcd-start',
      'etcd-join',
      'undo',
      'init',
      'network',
      'settings',
      'join-control',
    ].flatMap((name) => [...through(name, ['w1'], 1), ...done(name, 1)]),
    ...begins('join', WORKERS),
    ...WORKERS.slice(0, 30).flatMap((host) => starts('join', host, 'join the cluster')),
    { atS: 3730 },
    { moment: 'late in a long run' },
    { kind: 'interrupted', summary: 'interrupted' },
    ...WORKERS.slice(0, 30).flatMap((host) => ends('join', host, 1, 30)),
    { kind: 'done', changes: 1030, failed: ['w160'], durationMs: 3_730_000 },
  ],
};

/** The small cluster in a window whose size changes. */
const resized: Play = {
  phases: three.phases,
  events: [
    ...three.events.slice(
      0,
      three.events.findIndex((cue) => 'text' in cue),
    ),
    { columns: 60 },
    { moment: 'narrower' },
    { columns: 120 },
    { moment: 'wider' },
    { columns: 24 },
    { moment: 'tiny' },
  ],
};

/** By name. */
export const plays = { three, fleet, resized };

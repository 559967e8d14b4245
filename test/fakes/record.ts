import type { Event } from '../../src/engine/event.ts';
import { RECORD_FORMAT, type Note, type RecordedHost, type RecordHead } from '../../src/report/record/line.ts';

/** When the runs of records in tests begin. */
export const RECORD_START = Date.parse('2026-11-21T16:50:45.000Z');

/** A host of a record. Names give the role: `cp1`, `w1`, `lb1`, `etcd1`. */
export function recordedHost(name: string, over: Partial<RecordedHost> = {}): RecordedHost {
  const [, letters = '', number = '1'] = /^([a-z]+)(\d+)$/.exec(name) ?? [];
  const roles = { cp: 'control-plane', w: 'worker', lb: 'load-balancer', etcd: 'etcd' } as const;
  const nets = { cp: 1, w: 2, lb: 3, etcd: 4 } as const;
  const kind = letters as keyof typeof roles;
  const address = `10.0.${String(nets[kind])}.${number}`;
  return { name, role: roles[kind], os: 'linux', address, internalAddress: address, groups: [], ...over };
}

/** The first line of a record of `kbuild up`. */
export const recordHeadOf = (over: Partial<RecordHead> = {}): RecordHead => ({
  kind: 'run',
  format: RECORD_FORMAT,
  time: new Date(RECORD_START).toISOString(),
  run: '20261121t165045z-0a1b2c3d',
  process: { pid: 4321, realm: '0a1b2c3d' },
  command: 'up',
  kbuild: '0.1.0',
  cluster: 'demo',
  kubernetes: '1.36.3',
  endpoint: '10.0.0.100:6443',
  etcd: 'stacked',
  loadBalancer: { kind: 'keepalived', address: '10.0.0.100', port: 6443 },
  network: 'flannel',
  runtime: 'containerd',
  hosts: ['cp1', 'lb1', 'w1', 'w2'].map((name) => recordedHost(name)),
  ...over,
});

/** Something of a record, and when it happened: ms after the run's start. */
export type At = readonly [ms: number, what: Event | Note];

/** A record as text: NDJSON, the first line included. */
export const recordText = (lines: readonly At[], head: RecordHead = recordHeadOf()): string =>
  [head, ...lines.map(([ms, what]) => ({ time: new Date(RECORD_START + ms).toISOString(), ...what }))]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');

const change = (phase: string, host: string, step: string, summary: string) => ({ phase, host, step, summary });

const INSTALL = change('prepare', 'w1', 'packages', 'install kubelet 1.36.3 (found none)');
const INSTALL_W2 = { ...INSTALL, host: 'w2' };
const INIT = change('control-plane', 'cp1', 'init', 'initialize the cluster with kubeadm init');
const JOIN = change('join', 'w1', 'join', 'join the cluster');
const JOIN_W2 = { ...JOIN, host: 'w2' };
const READY = change('verify', 'w1', 'node-ready', 'wait until the node is Ready');

const PREPARE = { name: 'prepare', title: 'Prepare hosts', hosts: ['cp1', 'w1', 'w2'] };
const CONTROL_PLANE = { name: 'control-plane', title: 'Build the control plane', hosts: ['cp1'] };
const JOINING = { name: 'join', title: 'Join workers', hosts: ['w1', 'w2'] };

const PLAN: Note = {
  kind: 'plan',
  phases: [PREPARE, CONTROL_PLANE, JOINING],
  changes: [INSTALL, INSTALL_W2, INIT, JOIN, JOIN_W2],
  waits: [READY],
  restarts: [{ what: 'haproxy', hosts: ['lb1'], aboutMs: 5000, atOnce: 1 }],
};

const FINDINGS: Note = {
  kind: 'findings',
  findings: [
    {
      severity: 'warning',
      check: 'time-sync',
      page: 'docs/checks.md#time-sync',
      host: 'w2',
      message: 'no service keeps its clock',
      remedy: 'install chrony',
    },
    { severity: 'due', check: 'swap', page: 'docs/checks.md#swap', host: 'w1', message: 'swap is on' },
    { severity: 'due', check: 'swap', page: 'docs/checks.md#swap', host: 'w2', message: 'swap is on' },
  ],
};

const system = (host: string) => ({
  host,
  system: 'Debian GNU/Linux 12 (bookworm)',
  kernel: '6.1.0-31-amd64',
  architecture: 'x86_64',
});

const ABSENT: Note = {
  kind: 'cluster-observed',
  state: 'absent',
  reason: '',
  version: '',
  endpointAnswer: '',
  nodes: [],
  apiServers: [],
  etcd: { topology: 'stacked', leader: '', members: [], alarms: [] },
  addressHolders: ['lb1'],
};

const node = (name: string, role: 'control-plane' | 'worker') => ({
  name,
  role,
  ready: true,
  version: 'v1.36.3',
  os: 'Debian GNU/Linux 12 (bookworm)',
  runtime: 'containerd://2.2.9',
  address: recordedHost(name).address,
  conditions: [],
  cordoned: false,
  taints: role === 'worker' ? [] : ['node-role.kubernetes.io/control-plane:NoSchedule'],
});

const UP: Note = {
  ...ABSENT,
  state: 'up',
  version: '1.36.3',
  endpointAnswer: 'ok',
  nodes: [node('cp1', 'control-plane'), node('w1', 'worker')],
  apiServers: [{ host: 'cp1', readyz: 'ok' }],
  etcd: {
    topology: 'stacked',
    leader: 'cp1',
    members: [
      {
        name: 'cp1',
        id: '8e9e05c52164694d',
        peer: 'https://10.0.1.1:2380',
        learner: false,
        healthy: true,
        dbSize: 20480,
      },
    ],
    alarms: [],
  },
};

const WAYS = [
  { to: 'cp1', port: 6443, protocol: 'tcp', program: 'kube-apiserver', from: ['lb1', 'w1', 'w2'] },
  { to: 'w1', port: 10250, protocol: 'tcp', program: 'kubelet', from: ['cp1'] },
  { to: 'w2', port: 10250, protocol: 'tcp', program: 'kubelet', from: ['cp1'] },
  { to: 'w2', port: 8472, protocol: 'udp', program: 'flannel', from: ['cp1', 'w1'] },
] as const;

const ends = (host: string, name: string, expires: string) => ({ host, name, expires, renewedBy: 'kbuild' });

/** What a small run observes, finds and plans before its changes. */
const BEFORE: readonly At[] = [
  [5, { kind: 'connecting', hosts: ['cp1', 'lb1', 'w1', 'w2'] }],
  [400, { kind: 'command', host: 'cp1', command: 'observe', status: 0, durationMs: 310 }],
  [450, { kind: 'command', host: 'w1', command: 'observe', status: 0, durationMs: 340 }],
  [500, { kind: 'observed', hosts: 4, durationMs: 490 }],
  [501, { kind: 'hosts-observed', hosts: ['cp1', 'lb1', 'w1', 'w2'].map(system), unreachable: [] }],
  [501, ABSENT],
  [510, FINDINGS],
  [
    2500,
    {
      kind: 'ports-surveyed',
      ways: WAYS,
      blocked: [
        {
          from: 'w1',
          to: 'w2',
          port: 8472,
          protocol: 'udp',
          program: 'flannel',
          how: 'no datagram arrived within 3 s',
        },
      ],
      narrow: [],
      unverified: [],
      failed: [],
    },
  ],
  [2510, PLAN],
];

const PHASES: readonly At[] = [
  [4000, { kind: 'locked', hosts: 4 }],
  [4001, { kind: 'waiting', wait: 1, what: 'lock', summary: "another run holds the cluster's lock" }],
  [9001, { kind: 'waited', wait: 1, durationMs: 5000 }],
  [9010, { kind: 'phase-started', phase: 'prepare', title: 'Prepare hosts', hosts: PREPARE.hosts }],
  [9010, { kind: 'host-started', phase: 'prepare', host: 'cp1' }],
  [9010, { kind: 'host-started', phase: 'prepare', host: 'w1' }],
  [9011, { kind: 'host-started', phase: 'prepare', host: 'w2' }],
  [9020, { kind: 'changing', ...INSTALL }],
  [9021, { kind: 'changing', ...INSTALL_W2 }],
  [9030, { kind: 'host-done', phase: 'prepare', host: 'cp1', changes: 0, durationMs: 20 }],
  [12_000, { kind: 'job-waits', host: 'w2', summary: 'the apt lock is held by process 812 (unattended-upgr)' }],
  [21_500, { kind: 'command', host: 'w1', command: 'install packages', status: 0, durationMs: 12_400 }],
  [21_520, { kind: 'changed', ...INSTALL, durationMs: 12_500 }],
  [21_530, { kind: 'host-done', phase: 'prepare', host: 'w1', changes: 1, durationMs: 12_520 }],
  [22_000, { kind: 'job-waits', host: 'w2', summary: 'the apt lock is held by process 812 (unattended-upgr)' }],
  [41_500, { kind: 'command', host: 'w2', command: 'install packages', status: 0, durationMs: 32_400 }],
  [41_521, { kind: 'changed', ...INSTALL_W2, durationMs: 32_500 }],
  [41_531, { kind: 'host-done', phase: 'prepare', host: 'w2', changes: 1, durationMs: 32_520 }],
  [41_531, { kind: 'phase-done', phase: 'prepare', changes: 2, durationMs: 32_521 }],
  [41_540, { kind: 'phase-started', phase: 'control-plane', title: 'Build the control plane', hosts: ['cp1'] }],
  [41_540, { kind: 'host-started', phase: 'control-plane', host: 'cp1' }],
  [41_550, { kind: 'changing', ...INIT }],
  [61_550, { kind: 'changed', ...INIT, durationMs: 20_000 }],
  [
    62_000,
    { kind: 'settling', phase: 'control-plane', host: 'cp1', step: 'init', summary: 'the API starts', waitedMs: 400 },
  ],
  [64_000, { kind: 'host-done', phase: 'control-plane', host: 'cp1', changes: 1, durationMs: 22_460 }],
  [64_000, { kind: 'phase-done', phase: 'control-plane', changes: 1, durationMs: 22_460 }],
  [64_010, { kind: 'phase-started', phase: 'join', title: 'Join workers', hosts: ['w1', 'w2'] }],
  [64_010, { kind: 'host-started', phase: 'join', host: 'w1' }],
  [64_010, { kind: 'host-started', phase: 'join', host: 'w2' }],
  [64_020, { kind: 'changing', ...JOIN }],
  [64_020, { kind: 'changing', ...JOIN_W2 }],
];

/** A small run of which one worker fails. */
export const FAILED_RUN: readonly At[] = [
  ...BEFORE,
  ...PHASES,
  [70_000, { kind: 'changed', ...JOIN, durationMs: 5980 }],
  [70_010, { kind: 'host-done', phase: 'join', host: 'w1', changes: 1, durationMs: 6000 }],
  [
    84_020,
    { kind: 'failed', phase: 'join', host: 'w2', step: 'join', summary: 'w2: status 1: kubeadm join', exitCode: 4 },
  ],
  [84_020, { kind: 'phase-done', phase: 'join', changes: 1, durationMs: 20_010 }],
  [84_021, { kind: 'done', changes: 4, failed: ['w2'], durationMs: 75_011 }],
  [
    84_100,
    {
      kind: 'failure',
      host: 'w2',
      message: 'w2: status 1: kubeadm join\ncouldn’t validate the identity of the API Server',
      cause: 'the clock of w2 is wrong',
      remedy: 'let chrony keep its clock',
      lastWords: '== kubelet\nNov 21 16:52:09 w2 kubelet[812]: x509: certificate has expired or is not yet valid\n',
      exitCode: 4,
    },
  ],
  [
    84_150,
    {
      kind: 'certificates-observed',
      certificates: [
        ends('cp1', 'apiserver', '2027-11-21T16:51:30.000Z'),
        ends('cp1', 'ca', '2036-11-18T16:51:30.000Z'),
        ends('w1', 'kubelet', '2027-11-21T16:51:55.000Z'),
      ],
      unknown: [{ host: 'w2', message: 'w2: could not tell certificates: no such folder' }],
    },
  ],
  [84_160, UP],
  [84_200, { kind: 'end', exitCode: 4, result: 'not finished: 4 changes on 3 hosts in 1 min 24 s (prepare, control-plane, join); failed: w2', durationMs: 84_200 }], // prettier-ignore
];

/** The same run, killed in the middle of the join: its last line is cut. */
export const killedRunText = (): string => recordText([...BEFORE, ...PHASES]).slice(0, -30);

import type { Note } from '../../src/report/record/line.ts';
import { RECORD_START, recordedHost, recordHeadOf, recordText, type At } from './record.ts';

/** Numbers that look random and are the same in every run of a test: below `sides`, whole. */
export function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** A phase that is played: about how long a host takes, in ms, and what it changes. */
interface Played {
  readonly name: string;
  readonly title: string;
  readonly steps: readonly string[];
  readonly aboutMs: number;
  readonly roles: readonly string[];
  /** Hosts at once. */
  readonly atOnce: number;
}

const ALL = ['control-plane', 'worker'];

const PHASES: readonly Played[] = [
  { name: 'prepare', title: 'Prepare hosts', steps: ['swap', 'modules', 'sysctls'], aboutMs: 900, roles: ALL, atOnce: 30 }, // prettier-ignore
  { name: 'runtime', title: 'Install the container runtime', steps: ['packages', 'config', 'service'], aboutMs: 9000, roles: ALL, atOnce: 30 }, // prettier-ignore
  { name: 'packages', title: 'Install Kubernetes', steps: ['packages', 'hold'], aboutMs: 14_000, roles: ALL, atOnce: 30 }, // prettier-ignore
  { name: 'images', title: 'Pull images', steps: ['images'], aboutMs: 12_000, roles: ALL, atOnce: 30 },
  { name: 'load-balancer', title: 'Configure load balancers', steps: ['haproxy', 'keepalived'], aboutMs: 1500, roles: ['load-balancer'], atOnce: 1 }, // prettier-ignore
  { name: 'control-planes', title: 'Join control planes', steps: ['join'], aboutMs: 22_000, roles: ['control-plane'], atOnce: 1 }, // prettier-ignore
  { name: 'join', title: 'Join workers', steps: ['join', 'labels'], aboutMs: 7000, roles: ['worker'], atOnce: 30 },
  { name: 'verify', title: 'Verify the cluster', steps: ['node-ready'], aboutMs: 1200, roles: ALL, atOnce: 30 },
];

const SUMMARIES: Readonly<Record<string, string>> = {
  swap: 'turn swap off (found /swapfile)',
  modules: 'load br_netfilter and overlay (found neither)',
  sysctls: 'set net.ipv4.ip_forward to 1 (found 0)',
  packages: 'install the packages (found none)',
  config: 'write the configuration of the runtime (found none)',
  service: 'start and enable the service',
  hold: 'hold the packages at their version',
  images: 'pull 7 images (found none)',
  haproxy: 'write the configuration of haproxy (found none)',
  keepalived: 'start keepalived with the virtual address',
  join: 'join the cluster with kubeadm',
  labels: 'label the node rack=r2 (found none)',
  'node-ready': 'wait until the node is Ready',
};

/** The hosts of a played run: 3 control planes, 2 load balancers, the rest workers, some of them with groups. */
function hostsOf(count: number) {
  const workers = Array.from({ length: count - 5 }, (_, at) => {
    const address = `10.2.${String(Math.floor(at / 250))}.${String(1 + (at % 250))}`;
    const groups = at % 10 === 0 ? ['gpu'] : [];
    return recordedHost(`w${String(at + 1)}`, { address, internalAddress: address, groups });
  });
  return [...['cp1', 'cp2', 'cp3', 'lb1', 'lb2'].map((name) => recordedHost(name)), ...workers];
}

type Hosts = ReturnType<typeof hostsOf>;

const systemOf = (host: string, at: number) => ({
  host,
  system: at % 4 === 3 ? 'Ubuntu 24.04.2 LTS' : 'Debian GNU/Linux 12 (bookworm)',
  kernel: at % 4 === 3 ? '6.8.0-52-generic' : '6.1.0-31-amd64',
  architecture: at % 9 === 8 ? 'aarch64' : 'x86_64',
});

const placesOf = (hosts: Hosts, { roles }: Played): readonly string[] =>
  hosts.filter(({ role }) => roles.includes(role)).map(({ name }) => name);

const planOf = (hosts: Hosts): Note => ({
  kind: 'plan',
  phases: PHASES.map((phase) => ({ name: phase.name, title: phase.title, hosts: placesOf(hosts, phase) })),
  changes: PHASES.filter(({ name }) => name !== 'verify').flatMap((phase) =>
    placesOf(hosts, phase).flatMap((host) =>
      phase.steps.map((step) => ({ phase: phase.name, host, step, summary: SUMMARIES[step]! })),
    ),
  ),
  waits: [],
  restarts: [],
});

/** One host in one phase: from its start until it is through, or has failed. */
function hostInPhase(
  { name: phase, steps, aboutMs }: Played,
  host: string,
  startMs: number,
  { roll, fails }: { readonly roll: (sides: number) => number; readonly fails: boolean },
): { readonly lines: readonly At[]; readonly endMs: number } {
  const lines: At[] = [[startMs, { kind: 'host-started', phase, host }]];
  let ms = startMs;
  let changes = 0;
  for (const step of steps) {
    const place = { phase, host, step };
    const summary = SUMMARIES[step]!;
    // Some hosts are far slower than the others.
    const durationMs = Math.round((aboutMs / steps.length) * (0.6 + roll(80) / 100) * (roll(60) === 0 ? 6 : 1));
    if (step === 'node-ready') {
      lines.push([ms + 50, { kind: 'settling', ...place, summary: `${host} is not Ready`, waitedMs: 30 }]);
      ms += durationMs;
      continue;
    }
    lines.push([ms, { kind: 'changing', ...place, summary }]);
    if (step === 'packages' && roll(12) === 0)
      lines.push([ms + 400, { kind: 'job-waits', host, summary: '/var/lib/dpkg/lock-frontend is held by process 812 (unattended-upgr)' }]); // prettier-ignore
    ms += durationMs;
    if (fails && step === steps.at(-1)) {
      lines.push([ms, { kind: 'failed', ...place, summary: `${host}: status 1: ${step}`, exitCode: 4 }]);
      return { lines, endMs: ms };
    }
    lines.push([ms, { kind: 'command', host, command: step, status: 0, durationMs: durationMs - 5 }]);
    lines.push([ms, { kind: 'changed', ...place, summary, durationMs }]);
    changes += 1;
  }
  lines.push([ms, { kind: 'host-done', phase, host, changes, durationMs: ms - startMs }]);
  return { lines, endMs: ms };
}

/** All hosts of a phase, so many at once. */
function played(
  phase: Played,
  hosts: readonly string[],
  fromMs: number,
  roll: (sides: number) => number,
  failing: ReadonlySet<string>,
) {
  // prettier-ignore
  const places = Array.from({ length: phase.atOnce }, () => fromMs);
  const lines: At[] = [[fromMs, { kind: 'phase-started', phase: phase.name, title: phase.title, hosts: [...hosts] }]];
  const failed: string[] = [];
  for (const host of hosts) {
    const place = places.indexOf(Math.min(...places));
    const fails = failing.has(host) && phase.name === 'join';
    const done = hostInPhase(phase, host, places[place]!, { roll, fails });
    if (fails) failed.push(host);
    lines.push(...done.lines);
    places[place] = done.endMs;
  }
  const endMs = Math.max(...places);
  const changes = lines.filter(([, { kind }]) => kind === 'changed').length;
  lines.push([endMs, { kind: 'phase-done', phase: phase.name, changes, durationMs: endMs - fromMs }]);
  return { lines, endMs, changes, failed };
}

const failure = (host: string, at: number): Note => ({
  kind: 'failure',
  host,
  message: `${host}: status 1: kubeadm join\ncouldn’t validate the identity of the API Server`,
  cause: at % 2 === 0 ? `the clock of ${host} is wrong` : '',
  remedy: at % 2 === 0 ? 'let chrony keep its clock' : '',
  lastWords: `== kubelet\n${host} kubelet[812]: x509: certificate has expired or is not yet valid\n`,
  exitCode: 4,
});

const observed = (hosts: Hosts, state: 'absent' | 'up'): Note => ({
  kind: 'cluster-observed',
  state,
  reason: '',
  version: state === 'up' ? '1.36.3' : '',
  endpointAnswer: state === 'up' ? 'ok' : '',
  nodes: hosts
    .filter(({ role }) => state === 'up' && role !== 'load-balancer')
    .map(({ name, role, address }, at) => ({
      name,
      role,
      ready: at % 70 !== 69,
      version: at % 50 === 49 ? 'v1.35.7' : 'v1.36.3',
      os: systemOf(name, at).system,
      runtime: 'containerd://2.2.9',
      address,
      conditions: [],
      cordoned: false,
      taints: [],
    })),
  apiServers: state === 'up' ? ['cp1', 'cp2', 'cp3'].map((host) => ({ host, readyz: 'ok' })) : [],
  etcd: {
    topology: 'stacked',
    leader: state === 'up' ? 'cp1' : '',
    members: ['cp1', 'cp2', 'cp3'].flatMap((name, at) =>
      state === 'up'
        ? [{ name, id: `8e9e05c52164694${String(at)}`, peer: `https://10.0.1.${String(at + 1)}:2380`, learner: false, healthy: true, dbSize: 25_165_824 }] // prettier-ignore
        : [],
    ),
    alarms: [],
  },
  addressHolders: ['lb1'],
});

function surveyed(hosts: Hosts): Note {
  const names = hosts.filter(({ role }) => role !== 'load-balancer').map(({ name }) => name);
  return {
    kind: 'ports-surveyed',
    ways: names.flatMap((to) => [
      { to, port: 10250, protocol: 'tcp' as const, program: 'kubelet', from: ['cp1', 'cp2', 'cp3'].filter((one) => one !== to) }, // prettier-ignore
      { to, port: 8472, protocol: 'udp' as const, program: 'flannel', from: names.filter((one) => one !== to) },
    ]),
    blocked: ['w7', 'w8'].map((from) => ({
      from,
      to: 'w9',
      port: 8472,
      protocol: 'udp' as const,
      program: 'flannel',
      how: 'no datagram arrived',
    })),
    narrow: [{ from: 'w11', to: 'cp1', mtu: 1500 }],
    unverified: [],
    failed: [],
  };
}

const certificates = (hosts: Hosts): Note => ({
  kind: 'certificates-observed',
  certificates: hosts.flatMap(({ name, role }, at) =>
    (role === 'control-plane' ? ['apiserver', 'etcd-server', 'ca'] : role === 'worker' ? ['kubelet-client'] : []).map(
      (certificate) => ({
        host: name,
        name: certificate,
        expires: new Date(RECORD_START + (certificate === 'ca' ? 3650 : 300 + (at % 65)) * 86_400_000).toISOString(),
        renewedBy: role === 'worker' ? 'kubelet' : 'kbuild',
      }),
    ),
  ),
  unknown: [],
});

/** The record of an `up` of so many hosts (at least 20) that is played by dice: the same for the same numbers. A few workers fail. */
export function playedRecord(count: number, seed = 1): string {
  const roll = dice(seed);
  const hosts = hostsOf(count);
  const failing = new Set(['w13', 'w14', `w${String(count - 10)}`]);
  const names = hosts.map(({ name }) => name);
  const lines: At[] = [
    [4, { kind: 'connecting', hosts: names }],
    ...names.map((host): At => [300 + roll(1500), { kind: 'command', host, command: 'observe', status: 0, durationMs: 250 }]), // prettier-ignore
    [2000, { kind: 'observed', hosts: count, durationMs: 1996 }],
    [2001, { kind: 'hosts-observed', hosts: names.map(systemOf), unreachable: [] }],
    [2001, observed(hosts, 'absent')],
    [2100, { kind: 'findings', findings: names.map((host) => ({ severity: 'due', check: 'swap', page: 'docs/checks.md#swap', host, message: 'swap is on' })) }], // prettier-ignore
    [6000, surveyed(hosts)],
    [6100, planOf(hosts)],
    [7000, { kind: 'locked', hosts: count }],
  ];
  let ms = 7010;
  let changes = 0;
  const left = new Set<string>();
  for (const phase of PHASES) {
    const places = placesOf(hosts, phase).filter((name) => !left.has(name));
    const done = played(phase, places, ms, roll, failing);
    for (const name of done.failed) left.add(name);
    lines.push(...done.lines);
    changes += done.changes;
    ms = done.endMs + 10;
  }
  const failed = [...left];
  const result = `not finished: ${String(changes)} changes on ${String(count)} hosts; failed: ${failed.join(', ')}`;
  lines.push(
    [ms, { kind: 'done', changes, failed, durationMs: ms - 7010 }],
    ...failed.map((host, at): At => [ms + 100, failure(host, at)]),
    [ms + 200, certificates(hosts)],
    [ms + 201, observed(hosts, 'up')],
    [ms + 210, { kind: 'end', exitCode: 4, result, durationMs: ms + 210 }],
  );
  const inOrder = lines.toSorted(([a], [b]) => a - b);
  return recordText(inOrder, recordHeadOf({ cluster: 'large', hosts }));
}

import { describe, expect, test } from 'vitest';
import { linuxFacts } from '../../src/cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { NodeView } from '../../src/cluster/fleet/view.ts';
import { nodePhases, preparePhases, runtimePhases } from '../fakes/parts-of-up.ts';
import { changesIn, plan } from '../../src/engine/plan.ts';
import { NotConverged } from '../../src/errors.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import { cgroupProved } from '../../src/kubeadm/ready.step.ts';
import { driverChange } from '../../src/runtime/cgroup-driver.step.ts';
import { upgradeRefusals } from '../../src/upgrade/upgrade.refusal.ts';
import {
  clusterOf,
  cp1,
  cp2,
  cp3,
  inventoryOf,
  joinedWithContainerd,
  memberOf,
  nodesOf,
  podOf,
  w1,
  w2,
} from '../fakes/cluster.ts';
import { fleet } from '../fakes/fleet.ts';
import { recordingOn } from '../fakes/on.ts';

const hosts = [cp1, cp2, cp3, w1, w2];
type Driver = Inventory['runtime']['cgroupDriver'];

const wanting = (cgroupDriver: Driver): Inventory => {
  const plain = inventoryOf({ hosts });
  return { ...plain, runtime: { ...plain.runtime, cgroupDriver, versionFrom: 'default' } };
};

/** The drivers of a host: of its runtime, of its kubelet, and by which its pods run. */
interface Drivers {
  readonly runtime: Driver | 'unset';
  readonly kubelet: Driver;
  readonly pods: LinuxFacts['cgroupDriverInUse'];
}
const all = (driver: Driver): Drivers => ({ runtime: driver, kubelet: driver, pods: driver });

interface Seen {
  readonly runs?: Readonly<Record<string, Drivers>>;
  readonly annotations?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly fresh?: readonly string[];
  /** What kubelet-config has. */
  readonly stored?: Driver;
}

/** Hosts that were built with systemd. */
function seenBy(inventory: Inventory, { runs = {}, annotations = {}, fresh = [], stored = 'cgroupfs' }: Seen = {}) {
  const joined = hosts.filter(({ name }) => !fresh.includes(name));
  const cluster = clusterOf({
    kubeletConfiguration: { cgroupDriver: stored },
    nodes: nodesOf(...joined).map((node): NodeView => ({
      ...node,
      annotations: annotations[node.name] ?? {},
      unschedulable: 'kbuild.dev/cordoned' in (annotations[node.name] ?? {}),
    })),
    members: [memberOf(1), memberOf(2), memberOf(3)],
    apiServers: new Map([cp1, cp2, cp3].map(({ name }) => [name, 'ok'])),
  });
  const factsOf = ({ name, role }: LinuxHost): Partial<LinuxFacts> => {
    const { runtime, kubelet, pods } = runs[name] ?? all('systemd');
    return {
      ...joinedWithContainerd(role, '2.1.5-1~debian.12~bookworm'),
      runtimeConfig: { cgroupDriver: runtime, sandboxImage: 'registry.k8s.io/pause:3.10.2', criDisabled: false },
      kubeletConfig: { cgroupDriver: kubelet },
      kubeletFlags: ['--node-ip=10.0.0.21'],
      cgroupDriverInUse: pods,
    };
  };
  return fleet({ inventory, cluster, facts: Object.fromEntries(joined.map((host) => [host.name, factsOf(host)])) });
}

type Phases = Parameters<typeof plan>[0];
/** The changes of some phases that concern the driver; the hosts of the tests have neither repositories nor containerd's files yet. */
function planned(phases: (inventory: Inventory) => Phases, inventory: Inventory, seen: Seen = {}) {
  const { changes, errors } = plan(phases(inventory), inventory, seenBy(inventory, seen));
  expect(errors).toEqual([]);
  return changes.filter(({ step }) => !/repository|registr|containerd-(?:proxy|package)|runtime-unit/.test(step));
}
const rolled = (inventory: Inventory, seen: Seen = {}) => changesIn(planned(runtimePhases, inventory, seen));
const stepsOn = (changes: ReturnType<typeof rolled>, host: string): readonly string[] => [
  ...new Set(changes.filter((change) => change.host === host).map(({ step }) => step)),
];

const CHANGE = ['containerd-config', 'containerd-service', 'pods-by-driver'];
const BACK = ['uncordoned', 'workloads-back', 'runtime-change-done'];
const target = (inventory: Inventory, host: LinuxHost, seen: Seen = {}) => {
  const of = seenBy(inventory, seen);
  return { inventory, host, fleet: of, facts: linuxFacts(of, host)! };
};

describe('runtime.cgroupDriver edited', () => {
  const changes = rolled(wanting('cgroupfs'));

  test('drains each node, configures the runtime, restarts all of its pods, and lets it take pods again', () => {
    for (const { name } of hosts)
      expect(stepsOn(changes, name).filter((step) => step !== 'containerd-config-first')).toEqual([
        'runtime-change-noted',
        'drained',
        ...CHANGE.filter((step) => stepsOn(changes, name).includes(step)),
        ...BACK,
      ]);
    expect(stepsOn(changes, 'w1')).toContain('pods-by-driver');
  });

  test('changes workers before control planes, and one host at a time', () => {
    expect([...new Set(changes.map(({ host }) => host))]).toEqual(['w1', 'w2', 'cp1', 'cp2', 'cp3']);
    expect(runtimePhases(wanting('cgroupfs'))[0]!.concurrency).toBe(1);
  });

  test('says what runs and what will', () =>
    expect(
      changes.filter(({ host, step }) => host === 'w1' && /noted|by-driver/.test(step)).map(({ summary }) => summary),
    ).toEqual([
      'note that the cgroup driver of w1 changes from systemd to cgroupfs',
      'configure the kubelet of w1 for the cgroup driver cgroupfs, and restart all pods there',
    ]));

  test('keeps the version of the runtime where the inventory pins none', () => {
    const inventory = wanting('cgroupfs');
    const { changes } = plan(runtimePhases(inventory), inventory, seenBy(inventory));
    expect(changes.filter(({ step }) => step === 'containerd-package')).toEqual([]);
  });

  test('leaves runtime and kubelet of joined hosts alone until their turn; a new host gets the new driver at once', async () => {
    const configs = planned(preparePhases, wanting('cgroupfs'), { fresh: ['w2'] }).filter(({ step }) =>
      step.startsWith('containerd-config'),
    );
    const drivers = new Map<string, string>();
    for (const { host, change } of configs) {
      const { on, sent } = recordingOn();
      await change.apply!(on);
      const text = sent.flatMap((one) => (one.kind === 'write' ? [one.content] : [])).join('');
      drivers.set(host, /SystemdCgroup = (true|false)/.exec(text)?.[1] ?? 'none');
    }
    expect(Object.fromEntries(drivers)).toEqual({ cp1: 'true', cp2: 'true', cp3: 'true', w1: 'true', w2: 'false' });
    const kubelets = planned(nodePhases, wanting('cgroupfs')).filter(({ step }) => step === 'kubelet-settings');
    expect(kubelets).toEqual([]);
  });
});

describe('a change that was cut off goes on', () => {
  const ours = {
    'kbuild.dev/drained': 'true',
    'kbuild.dev/cordoned': 'true',
    'kbuild.dev/runtime-change': 'systemd to cgroupfs',
    'kbuild.dev/workloads': 'none',
  };
  const on = (drivers: Drivers) =>
    stepsOn(rolled(wanting('cgroupfs'), { runs: { w1: drivers }, annotations: { w1: ours } }), 'w1');

  test('after the drain: the node is drained no second time', () => {
    const steps = on(all('systemd'));
    expect(steps).not.toContain('drained');
    expect(steps).toContain('pods-by-driver');
  });

  test('after the runtime: its configuration is not taken back meanwhile, and the pods restart', async () => {
    const between = { runtime: 'cgroupfs', kubelet: 'systemd', pods: 'systemd' } as const;
    expect(on(between)).toContain('pods-by-driver');
    const seen = { runs: { w1: between }, annotations: { w1: ours } };
    const [config] = planned(preparePhases, wanting('cgroupfs'), seen).filter(
      ({ host, step }) => host === 'w1' && step.startsWith('containerd-config'),
    );
    const recorded = recordingOn();
    await config!.change.apply!(recorded.on);
    expect(JSON.stringify(recorded.sent)).toContain('SystemdCgroup = false');
  });

  test('while containers of both drivers run', () =>
    expect(on({ runtime: 'cgroupfs', kubelet: 'cgroupfs', pods: 'mixed' })).toContain('pods-by-driver'));

  test('after the pods: the node takes pods again', () => {
    const steps = on(all('cgroupfs'));
    expect(steps).toEqual(expect.arrayContaining(BACK));
    expect(steps).not.toContain('pods-by-driver');
  });

  test('after runtime.cgroupDriver was set back: the pods that have changed change back', () => {
    const seen = { runs: { w1: all('cgroupfs') }, annotations: { w1: ours }, stored: 'systemd' as const };
    const changes = rolled(wanting('systemd'), seen);
    expect(stepsOn(changes, 'w1')).toContain('pods-by-driver');
    expect(stepsOn(changes, 'w2')).toEqual([]);
  });
});

describe('no host is drained', () => {
  test.each([
    [
      'where pods run by the driver already, and only a file was edited by hand',
      { ...all('systemd'), runtime: 'cgroupfs' },
    ],
    ['where no pod runs', { ...all('cgroupfs'), pods: 'none' }],
    ['for pods of another program, where runtime and kubelet have the driver', { ...all('systemd'), pods: 'mixed' }],
  ] as const)('%s', (_, drivers) => {
    const changes = rolled(wanting('systemd'), { runs: { w1: drivers }, stored: 'systemd' });
    expect(stepsOn(changes, 'w1')).toEqual([]);
  });

  test('in the middle of an upgrade, and nothing waits for the driver then', () => {
    const inventory = wanting('cgroupfs');
    const seen = seenBy(inventory);
    const apiServer = (node: string, version: string) =>
      podOf({
        name: `kube-apiserver-${node}`,
        node,
        labels: { component: 'kube-apiserver', tier: 'control-plane' },
        images: [`registry.k8s.io/kube-apiserver:v${version}`],
      });
    const cluster = {
      ...seen.cluster,
      version: '1.37.1',
      pods: [apiServer('cp1', '1.36.3'), apiServer('cp2', '1.37.1')],
    };
    const mixed = { ...seen, cluster } as typeof seen;
    expect(plan(runtimePhases(inventory), inventory, mixed).changes).toEqual([]);
    expect(cgroupProved.diff({ inventory, host: w1, fleet: mixed, facts: linuxFacts(mixed, w1)! })).toEqual([]);
  });

  test('while the API does not answer', () => {
    const inventory = wanting('cgroupfs');
    const down = { ...seenBy(inventory), cluster: { state: 'down', reason: 'connection refused' } } as ReturnType<
      typeof seenBy
    >;
    const { changes } = plan(runtimePhases(inventory), inventory, down);
    expect(changesIn(changes)).toEqual([]);
    expect(changes[0]?.summary).toMatch(/^wait for the API server to answer/);
  });

  test('while the cluster has the other driver for kubelets: kubeadm would write it again', async () => {
    const { on, sent } = recordingOn();
    const [note] = rolled(wanting('cgroupfs'), { stored: 'systemd' });
    expect(note!.step).toBe('runtime-change-noted');
    await expect(note!.change.apply!(on)).rejects.toBeInstanceOf(NotConverged);
    expect(sent).toEqual([]);
  });
});

test('the controller manager of a single control plane, which restarted, gets time to let pods in again', () => {
  const [phase] = runtimePhases(wanting('cgroupfs'));
  expect(phase!.steps.find(({ name }) => name === 'uncordoned')!.settleMs).toBe(5 * 60_000);
});

test('a driver that the runtime does not name counts as that of its pods', () =>
  expect(
    driverChange(target(wanting('cgroupfs'), w1, { runs: { w1: { ...all('systemd'), runtime: 'unset' } } })),
  ).toEqual({ from: 'systemd', to: 'cgroupfs' }));

test('the pods of a control plane stay as they are unless etcd shows that every member is healthy', async () => {
  const { on, sent } = recordingOn();
  const change = rolled(wanting('cgroupfs')).find(({ host, step }) => host === 'cp1' && step === 'pods-by-driver')!;
  await expect(change.change.apply!(on)).rejects.toThrow();
  expect(sent.filter(({ kind }) => kind === 'job')).toEqual([]);
});

test('one job configures the kubelet and restarts the pods: it goes on where kbuild ends', async () => {
  const { on, sent } = recordingOn();
  const change = rolled(wanting('cgroupfs')).find(({ host, step }) => host === 'w1' && step === 'pods-by-driver')!;
  await change.change.apply!(on);
  expect(sent.map(({ host, kind }) => `${host} ${kind}`)).toEqual(['w1 job']);
  const { script } = sent[0] as { readonly script: string };
  const order = [
    'kubeadm upgrade node phase kubelet-config',
    "trap 'systemctl start kubelet' EXIT",
    'systemctl stop kubelet',
  ];
  expect(order.map((word) => script.indexOf(word)).toSorted((a, b) => a - b)).toEqual(
    order.map((word) => script.indexOf(word)),
  );
  expect(script).toContain('runtime_kept()');
});

test('upgrade refuses while a host waits for its driver', () => {
  const inventory = wanting('cgroupfs');
  const seen = seenBy(inventory, { runs: { w1: all('cgroupfs'), w2: all('cgroupfs') } });
  const about = upgradeRefusals(inventory, seen, []).filter(({ message }) => message.includes('cgroup driver'));
  expect(about.map(({ message }) => message)).toEqual(
    ['cp1', 'cp2', 'cp3'].map(
      (name) => expect.stringContaining(`${name}: refused: its pods still run by another`) as string,
    ),
  );
});

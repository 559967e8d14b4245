import { describe, expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterUp, ClusterView } from '../../src/cluster/fleet/view.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import type { Marker } from '../../src/kubeadm/marker.facts.ts';
import { settingsOf } from '../../src/kubeadm/settings.ts';
import type { JsonObject } from '../../src/shell/decode.ts';
import { upgradeRefusals } from '../../src/upgrade/upgrade.refusal.ts';
import { minorOf } from '../../src/versions.ts';
import {
  clusterOf,
  cp1,
  cp2,
  fleetIn,
  inventoryOf,
  joinedHost,
  memberOf,
  nodeOf,
  podOf,
  w1,
  w2,
} from '../fakes/cluster.ts';

const files: Partial<LinuxFacts> = {
  kubeletFlags: [],
  kubeletConfig: {},
  kubeletOverrides: [],
  cgroupVersion: 2,
  storage: [],
};
const KUBEADM = inventoryOf().kubeadm;

const inventoryAt = (version: string, over: Partial<Inventory> = {}): Inventory => {
  const inventory = inventoryOf({ hosts: [cp1, cp2, w1, w2], ...over });
  return { ...inventory, kubernetes: { ...inventory.kubernetes, version, minor: minorOf(version) } };
};

const planes = (versions: Readonly<Record<string, string>>): Pick<ClusterUp, 'nodes' | 'pods'> => ({
  nodes: [
    ...Object.entries(versions).map(([name, version]) =>
      nodeOf({ name, role: 'control-plane', kubeletVersion: `v${version}` }),
    ),
    ...['w1', 'w2'].map((name) => nodeOf({ name, kubeletVersion: `v${Object.values(versions)[0]!}` })),
  ],
  pods: Object.entries(versions).map(([node, version]) =>
    podOf({
      name: `kube-apiserver-${node}`,
      node,
      labels: { component: 'kube-apiserver' },
      images: [`registry.k8s.io/kube-apiserver:v${version}`],
    }),
  ),
});

const running = (version: string, over: Partial<ClusterUp> = {}): ClusterUp =>
  clusterOf({ version, ...planes({ cp1: version, cp2: version }), ...over });

interface Situation {
  readonly inventory?: Inventory;
  readonly cluster?: ClusterView;
  readonly hops?: readonly string[];
  readonly facts?: Readonly<Record<string, Partial<LinuxFacts>>>;
  /** The hosts of `--hosts`; missing: all. */
  readonly chosen?: readonly string[];
}

/** Each refusal as `message -> remedy`; without a word of the test, 1.36.3 → 1.37.1. */
function refused({
  inventory = inventoryAt('1.37.1'),
  cluster = running('1.36.3'),
  hops,
  facts = {},
  chosen,
}: Situation) {
  const seen = [cp1, cp2, w1, w2].map((host) => {
    const own = inventory.hosts.find(({ name }) => name === host.name);
    return joinedHost(own?.os === 'linux' ? own : host, { ...files, ...facts[host.name] });
  });
  return upgradeRefusals(
    inventory,
    fleetIn(cluster, ...seen),
    hops ?? [inventory.kubernetes.version],
    chosen === undefined ? undefined : (name) => chosen.includes(name),
  ).map(({ message, remedy }) => `${message} -> ${remedy ?? ''}`);
}

const marker = (action: string, stage = 'begun'): Marker => ({ cluster: 'demo', action, job: 'x', stage });

describe('an upgrade is not refused', () => {
  test('when nothing stands in its way', () => {
    expect(refused({})).toEqual([]);
  });

  test('when it is resumed: API servers of two minors, marker of the upgrade, the newer version noted', () => {
    const cluster = running('1.37.1', planes({ cp1: '1.37.1', cp2: '1.36.3' }));
    expect(refused({ cluster, facts: { cp1: { marker: marker('upgrade') } } })).toEqual([]);
  });

  test('when all is done', () => {
    expect(refused({ cluster: running('1.37.1'), hops: [] })).toEqual([]);
  });
});

describe('an upgrade is refused', () => {
  test('without a cluster that answers', () => {
    expect(refused({ cluster: { state: 'absent' } })).toEqual([
      'demo: refused: there is no cluster yet -> build it: `kbuild up`',
    ]);
    expect(refused({ cluster: { state: 'down', reason: 'timeout' } })).toEqual([
      'demo: refused: the cluster does not answer: timeout -> bring it back first: `kbuild status` shows what is down; if its certificates have expired, `kbuild certs recover`',
    ]);
  });

  test('while a member of the user’s own etcd is older than Kubernetes works with', () => {
    const inventory = inventoryAt('1.37.1', { etcd: { topology: 'external' } as Inventory['etcd'] });
    const endpoint = (url: string, version: string, problem?: string) => ({ url, version, problem, keys: 1 });
    const externalEtcd = [
      endpoint('https://10.0.0.5:2379', '3.5.21'),
      endpoint('https://10.0.0.6:2379', '3.5.24'),
      endpoint('https://10.0.0.7:2379', '', 'no answer'),
    ];
    expect(refused({ inventory, facts: { cp1: { externalEtcd }, cp2: { externalEtcd } } })).toEqual([
      'https://10.0.0.5:2379: refused: your etcd runs 3.5.21 there, and 3.5.24 is the oldest that Kubernetes works with -> upgrade your etcd first, one member at a time',
    ]);
    expect(refused({ inventory, facts: { cp1: { externalEtcd: 'not asked' }, cp2: { externalEtcd: [] } } })).toEqual(
      [],
    );
  });

  test('while a node would lose a handler of its runtime by which a pod runs there', () => {
    const [cp, ...others] = running('1.36.3').nodes;
    const nodes = [cp!, ...others.map((node) => ({ ...node, labels: { 'handler.kbuild.dev/crun': 'yes' } }))];
    const handlerPods = [{ namespace: 'shop', name: 'web', node: 'w1', handler: 'crun' }];
    expect(refused({ cluster: running('1.36.3', { nodes, handlerPods }) })).toEqual([
      expect.stringMatching(/^w1: refused: .* handler crun .*: shop\/web -> name the handler again for w1/),
    ]);
  });

  test.each(['1.35.8', '1.36.2'])('for the older version %s, also an older patch', (version) => {
    expect(refused({ inventory: inventoryAt(version), hops: [] })).toEqual([
      `demo: refused: kubernetes.version is ${version}, the API servers run 1.36.3: Kubernetes has no downgrade, not even to an older patch -> set kubernetes.version to 1.36.3 or newer`,
    ]);
  });

  test('for a minor that kbuild does not know, also in between', () => {
    expect(refused({ inventory: inventoryAt('1.39.0'), hops: ['1.37.1', '1.38.0', '1.39.0'] })).toEqual([
      'demo: refused: this kbuild does not know Kubernetes 1.38, 1.39; it knows 1.34, 1.35, 1.36, 1.37 -> set kubernetes.version to one of these minors, or use a newer kbuild',
    ]);
  });

  test.each([
    ['kubeadm noted the newer version', running('1.37.1', planes({ cp1: '1.37.1', cp2: '1.36.3' })), '1.37.1'],
    ['kubeadm was cut off before it noted', running('1.36.3', planes({ cp1: '1.37.1', cp2: '1.36.3' })), '1.36.3'],
  ])('while an upgrade to a newer version is half done: %s', (_, cluster, noted) => {
    expect(refused({ inventory: inventoryAt('1.36.4'), cluster })).toEqual([
      `demo: refused: kubernetes.version is 1.36.4, and an upgrade to 1.37.1 is half done (1.36.3 on cp2; 1.37.1 on cp1; kubeadm noted ${noted}) -> finish it first: set kubernetes.version to 1.37.1 and run \`kbuild upgrade\``,
    ]);
  });

  test('when API servers are more than one minor apart', () => {
    const cluster = running('1.37.1', planes({ cp1: '1.37.1', cp2: '1.35.8' }));
    expect(refused({ cluster })).toEqual([
      'demo: refused: the API servers are more than one minor apart (1.35.8 on cp2; 1.37.1 on cp1), which Kubernetes does not support -> upgrade the oldest of them by hand with `kubeadm upgrade node`, one minor at a time',
    ]);
  });

  test('when kubelets are more than three minors older than the first hop; the remedy upgrades them first', () => {
    const { nodes, pods } = planes({ cp1: '1.36.3', cp2: '1.36.3' });
    const old = nodes.map((node) => (node.name === 'w1' ? { ...node, kubeletVersion: 'v1.33.4' } : node));
    expect(refused({ cluster: running('1.36.3', { nodes: old, pods }) })).toEqual([
      'demo: refused: API servers of 1.37.1 do not work with kubelets that are more than 3 minors older: w1 runs 1.33.4 -> upgrade these kubelets first: set kubernetes.version to 1.36.3, run `kbuild upgrade --workers-only --hosts w1`, then set kubernetes.version to 1.37.1 again',
    ]);
    const allowed = nodes.map((node) => (node.name === 'w1' ? { ...node, kubeletVersion: 'v1.34.4' } : node));
    expect(refused({ cluster: running('1.36.3', { nodes: allowed, pods }) })).toEqual([]);
  });

  test('when a worker is more than three minors older than any hop, for its kubelet follows after the last one', () => {
    const { nodes, pods } = planes({ cp1: '1.34.2', cp2: '1.34.2' });
    const old = nodes.map((node) => (node.name === 'w1' ? { ...node, kubeletVersion: 'v1.33.9' } : node));
    const cluster = running('1.34.2', { nodes: old, pods });
    expect(refused({ cluster, hops: ['1.35.8', '1.36.4', '1.37.1'] })).toEqual([
      'demo: refused: API servers of 1.37.1 do not work with kubelets that are more than 3 minors older: w1 runs 1.33.9 -> upgrade these kubelets first: set kubernetes.version to 1.34.2, run `kbuild upgrade --workers-only --hosts w1`, then set kubernetes.version to 1.37.1 again',
    ]);
    expect(refused({ inventory: inventoryAt('1.36.4'), cluster, hops: ['1.35.8', '1.36.4'] })).toEqual([]);
    const controls = nodes.map((node) => (node.name === 'cp2' ? { ...node, kubeletVersion: 'v1.33.9' } : node));
    const ofControl = running('1.34.2', { nodes: controls, pods });
    expect(refused({ cluster: ofControl, hops: ['1.35.8', '1.36.4', '1.37.1'] })).toEqual([]);
  });

  test('when --hosts would take one control plane over two minors, and leave the others', () => {
    const cluster = running('1.35.8');
    const hops = ['1.36.4', '1.37.1'];
    expect(refused({ cluster, hops, chosen: ['cp1'] })).toEqual([
      'demo: refused: cp2 would stay at 1.35.8 while cp1 gets 1.37.1, and API servers may be one minor apart -> upgrade every control plane in one run, without --hosts; or one minor at a time: set kubernetes.version to 1.36.4, upgrade all of them, then set it to 1.37.1 again',
    ]);
    expect(refused({ cluster, hops })).toEqual([]);
    expect(refused({ cluster, hops, chosen: ['w1', 'w2'] })).toEqual([]);
    expect(refused({ chosen: ['cp1'] })).toEqual([]);
  });

  test('when the inventory does not name a control plane', () => {
    expect(refused({ inventory: inventoryAt('1.37.1', { hosts: [cp1, w1, w2] }) })).toEqual([
      'demo: refused: the inventory does not name cp2, a control plane of the cluster: kbuild cannot upgrade it -> name it in the inventory, or take it out of the cluster with `kbuild remove cp2`',
    ]);
  });

  test('when settings were edited; an older cluster without a note is not refused', () => {
    const before = inventoryAt('1.36.3');
    const settings = settingsOf(before) as unknown as JsonObject;
    const cluster = { apiServer: { extraArgs: [{ name: 'v', value: '4' }] } };
    const inventory = inventoryAt('1.37.1', { kubeadm: { ...KUBEADM, cluster } });
    expect(refused({ inventory, cluster: running('1.36.3', { settings }) })).toEqual([
      'demo: refused: settings were edited and not applied yet (kubeadm.cluster): kubeadm would mix them with the new version -> apply them first with `kbuild up`, then run `kbuild upgrade` again',
    ]);
    expect(refused({ inventory, cluster: running('1.36.3') })).toEqual([]);
    expect(refused({ cluster: running('1.36.3', { settings }) })).toEqual([]);
  });

  test('while an upgrade to another version is unfinished on a control plane, unless it has changed nothing', () => {
    const begun = (about: string) => ({ cp1: { marker: { ...marker('upgrade'), about } } });
    const pods = [...running('1.36.3').pods].map((pod) => ({ ...pod }));
    const whole = ['cp1', 'cp2'].flatMap((node) =>
      ['kube-controller-manager', 'kube-scheduler', 'etcd'].map((component) =>
        podOf({
          ...{ name: `${component}-${node}`, node, labels: { component } },
          images: [`registry.k8s.io/${component}:${component === 'etcd' ? '3.6.8-0' : 'v1.36.3'}`],
        }),
      ),
    );
    const cluster = running('1.36.3', { pods: [...pods, ...whole] });
    const back = { inventory: inventoryAt('1.36.3'), hops: ['1.36.3'], cluster };
    expect(refused({ ...back, facts: begun('1.37.1') })).toEqual([]);
    expect(refused({ cluster, facts: begun('1.37.1') })).toEqual([]);
    const scheduler = [...pods, ...whole].filter(({ name }) => name !== 'kube-scheduler-cp1');
    expect(refused({ ...back, cluster: running('1.36.3', { pods: scheduler }), facts: begun('1.37.1') })).toEqual([
      'cp1: refused: an upgrade to 1.37.1 was cut off here, and may have changed kube-scheduler unknown -> finish it first: set kubernetes.version to 1.37.1 and run `kbuild upgrade`',
    ]);
    expect(refused({ cluster, facts: begun('1.36.3') })).toEqual([
      expect.stringMatching(
        /^cp1: refused: an upgrade to 1\.36\.3 was cut off here, .* -> finish it first: set kubernetes\.version to 1\.36\.3/,
      ),
    ]);
  });

  test('when another action is unfinished on a host, or its marker cannot be read', () => {
    expect(refused({ facts: { w1: { marker: marker('rotate-ca', 'trust') } } })).toEqual([
      'w1: refused: an unfinished rotate-ca of demo lies here (trust) -> finish it with the command that began it, then run `kbuild upgrade` again',
    ]);
    expect(refused({ facts: { w1: { marker: 'unreadable' } } })).toEqual([
      'w1: refused: the marker /var/lib/kbuild/marker.json cannot be read: it is corrupt, or a newer kbuild wrote it -> finish the action with the kbuild that began it; if none is under way, delete the file',
    ]);
  });

  test('on cgroup v1 when a hop reaches 1.35, unless the inventory or the cluster accepts v1', () => {
    const old = running('1.34.4');
    const facts = { w1: { cgroupVersion: 1 as const } };
    const inventory = inventoryAt('1.35.8');
    expect(refused({ inventory, cluster: old, facts })).toEqual([
      'w1: refused: it runs on cgroup v1, and the kubelet of Kubernetes 1.35 does not start there -> boot it with systemd.unified_cgroup_hierarchy=1, or accept the deprecated v1: set kubelet.config.failCgroupV1: false in the inventory and run `kbuild up`',
    ]);
    const accepting = { ...w1, kubelet: { config: { failCgroupV1: false }, extraArgs: [] } };
    const accepted = inventoryAt('1.35.8', { hosts: [cp1, cp2, accepting, w2] });
    expect(refused({ inventory: accepted, cluster: old, facts })).toEqual([]);
    const kubeletConfiguration = { failCgroupV1: false };
    expect(refused({ inventory, cluster: running('1.34.4', { kubeletConfiguration }), facts })).toEqual([]);
    expect(refused({ inventory: inventoryAt('1.34.9'), cluster: old, facts })).toEqual([]);
  });
});

describe('a control plane without room for kubeadm’s copy of etcd’s data', () => {
  const GIB = 1024 ** 3;
  const cluster = running('1.36.3', { members: [{ ...memberOf(1), dbSize: GIB }] });
  const storage = (freeBytes: number): Partial<LinuxFacts> => ({
    storage: [
      {
        ...{
          path: '/etc',
          isEtcds: false,
          mountPoint: '/',
          fileSystem: 'ext4',
          readOnly: false,
          noExec: false,
          freeBytes,
        },
        totalBytes: 9 * GIB,
        freeInodes: 0,
        totalInodes: 0,
      },
    ],
  });

  test('is refused before anything is touched', () => {
    expect(refused({ cluster, facts: { cp1: storage(GIB) } })).toEqual([
      "cp1: refused: kubeadm copies etcd's data to /etc/kubernetes/tmp before it exchanges etcd, and / has 1024 MiB free, not 1536 MiB -> make room there",
    ]);
    expect(refused({ cluster, facts: { cp1: storage(2 * GIB) } })).toEqual([]);
  });

  test('is the only host whose disk must be known', () => {
    const workers = { w1: { storage: undefined } as unknown as Partial<LinuxFacts> };
    expect(refused({ cluster, facts: { ...workers, cp1: storage(2 * GIB) } })).toEqual([]);
  });

  test('is left alone when it has been upgraded', () => {
    const upgraded = { ...cluster, ...planes({ cp1: '1.37.1', cp2: '1.36.3' }) };
    expect(refused({ cluster: upgraded, facts: { cp1: storage(GIB) } })).toEqual([]);
  });
});

describe('settings that the newer Kubernetes does not know', () => {
  const gates = [{ name: 'feature-gates', value: 'SidecarContainers=true,LogarithmicScaleDown=true' }];
  const configuration = { controllerManager: { extraArgs: gates } };

  test('are refused once a place, with all settings of the place', () => {
    const inventory = inventoryAt('1.37.1', { kubeadm: { ...KUBEADM, cluster: configuration } });
    expect(refused({ inventory })).toEqual([
      'demo: refused: kubeadm.cluster.controllerManager.extraArgs: feature gate LogarithmicScaleDown=true: Kubernetes 1.37 does not know it; feature gate SidecarContainers=true: Kubernetes 1.37 does not know it: kube-controller-manager would not start -> remove it from the inventory and apply that with `kbuild up`, then run `kbuild upgrade` again',
    ]);
  });

  test('are refused in the inventory alone when the cluster has them from there', () => {
    const inventory = inventoryAt('1.37.1', { kubeadm: { ...KUBEADM, cluster: configuration } });
    expect(refused({ inventory, cluster: running('1.36.3', { configuration }) })).toHaveLength(1);
  });

  test('are refused in the cluster when the inventory does not have them', () => {
    expect(refused({ cluster: running('1.36.3', { configuration }) })).toEqual([
      expect.stringMatching(
        /^demo: refused: ConfigMap kubeadm-config \(controllerManager\.extraArgs\): .* -> remove it with `kubectl -n kube-system edit configmap kubeadm-config`, then run `kbuild upgrade` again$/,
      ),
    ]);
  });

  test("are refused on the hosts whose kubelet's files have them", () => {
    const kubeletConfig = { featureGates: { SidecarContainers: true } };
    expect(refused({ facts: { w1: { kubeletConfig }, w2: { kubeletConfig } } })).toEqual([
      'w1, w2: refused: /var/lib/kubelet/config.yaml of w1, w2: feature gate SidecarContainers=true: Kubernetes 1.37 does not know it: kubelet would not start -> run `kbuild up`, which writes the file from the inventory, then run `kbuild upgrade` again',
    ]);
  });

  test('that enable an alpha API are refused with the hint that its objects come first, since nothing shows them later', () => {
    const extraArgs = [{ name: 'runtime-config', value: 'scheduling.k8s.io/v1alpha2=true' }];
    const inventory = inventoryAt('1.37.1', { kubeadm: { ...KUBEADM, cluster: { apiServer: { extraArgs } } } });
    expect(refused({ inventory })).toEqual([
      'demo: refused: kubeadm.cluster.apiServer.extraArgs: --runtime-config with scheduling.k8s.io/v1alpha2: Kubernetes 1.37 does not know this API version: kube-apiserver would not start -> first delete the objects of scheduling.k8s.io/v1alpha2 that you made, if there are any; then remove it from the inventory and apply that with `kbuild up`, then run `kbuild upgrade` again',
    ]);
  });

  test('are no reason to refuse when kbuild takes them out of kubeadm-flags.env', () => {
    expect(refused({ facts: { w1: { kubeletFlags: ['--containerd=/run/x.sock'] } } })).toEqual([]);
  });

  test('are refused in a file that overrides the one that kbuild writes', () => {
    const override = { file: '/etc/default/kubelet', variable: 'KUBELET_EXTRA_ARGS', flags: ['--containerd'] };
    expect(refused({ facts: { w1: { kubeletOverrides: [override] } } })).toEqual([
      'w1: refused: KUBELET_EXTRA_ARGS in /etc/default/kubelet of w1: --containerd: Kubernetes 1.37 does not know it: kubelet would not start -> remove it from the file and run `systemctl restart kubelet`, then run `kbuild upgrade` again',
    ]);
  });

  test('count for a kubelet from its own version on, which may be older than the API servers', () => {
    const { nodes, pods } = planes({ cp1: '1.36.3', cp2: '1.36.3' });
    const old = nodes.map((node) => (node.name === 'w1' ? { ...node, kubeletVersion: 'v1.35.8' } : node));
    const facts = { w1: { kubeletConfig: { featureGates: { MemoryManager: true } } } };
    expect(refused({ facts })).toEqual([]);
    expect(refused({ facts, cluster: running('1.36.3', { nodes: old, pods }) })).toEqual([
      expect.stringContaining('feature gate MemoryManager=true: Kubernetes 1.36 does not know it'),
    ]);
  });

  test('of kubeadm would make its phases fail', () => {
    const cluster = running('1.36.3', { configuration: { featureGates: { PublicKeysECDSA: true } } });
    expect(refused({ cluster })).toEqual([
      expect.stringContaining('kubeadm 1.37 does not know it: kubeadm would refuse its configuration'),
    ]);
  });
});

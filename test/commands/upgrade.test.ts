import { describe, expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterUp, NodeView } from '../../src/cluster/fleet/view.ts';
import { upgrade } from '../../src/commands/upgrade.phases.ts';
import { selected } from '../../src/engine/phases.ts';
import { isWait, plan } from '../../src/engine/plan.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import type { Marker } from '../../src/kubeadm/marker.facts.ts';
import { withoutEarlyAddons } from '../../src/upgrade/begun.ts';
import { addonsUpgraded, rulesOfKubeadm } from '../../src/upgrade/cluster.step.ts';
import { controlPlaneUpgraded } from '../../src/upgrade/control-plane.step.ts';
import { hopsThrough } from '../../src/upgrade/hop.ts';
import {
  CA,
  clusterOf,
  cp1,
  cp2,
  cp3,
  fleetIn,
  hostOf,
  inventoryOf,
  joinedHost,
  memberOf,
  nodeOf,
  podOf,
} from '../fakes/cluster.ts';
import { fleet } from '../fakes/fleet.ts';
import { recordingOn } from '../fakes/on.ts';

const workers = [1, 2, 3, 4].map((n) => hostOf({ name: `w${String(n)}`, address: `203.0.113.3${String(n)}` }));
const controls = [cp1, cp2, cp3];
const given = (version: string, over: Partial<Inventory> = {}) =>
  inventoryOf({
    hosts: [...controls, ...workers],
    kubernetes: { ...inventoryOf().kubernetes, version, minor: version.slice(0, 4) },
    ...over,
  });

/** What a host runs: its static pods and its kubelet. */
interface Runs {
  readonly api: string;
  readonly kubelet?: string;
  readonly etcd?: string;
  readonly node?: Partial<NodeView>;
}

const PODS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
const MANIFESTS: LinuxFacts['files'] = new Map(
  ['etcd', ...PODS].map((name) => [`/etc/kubernetes/manifests/${name}.yaml`, { kind: 'file' } as never]),
);

const podsOf = (node: string, { api, etcd = '3.6.8' }: Runs) =>
  [...PODS.map((name) => [name, `v${api}`] as const), ['etcd', `${etcd}-0`] as const].map(([name, tag]) =>
    podOf({
      name: `${name}-${node}`,
      node,
      labels: { component: name, tier: 'control-plane' },
      images: [`registry.k8s.io/${name}:${tag}`],
      startedMs: 1,
    }),
  );

/** A cluster of three control planes and four workers, each of which runs `usual` unless a test says otherwise. */
function world(usual: Runs, others: Readonly<Record<string, Runs>> = {}, noted = usual.api) {
  const of = ({ name }: LinuxHost): Runs => others[name] ?? usual;
  const proxies = [...controls, ...workers].map((host) =>
    podOf({
      name: `kube-proxy-${host.name}`,
      node: host.name,
      labels: { 'k8s-app': 'kube-proxy' },
      images: [`registry.k8s.io/kube-proxy:v${noted}`],
    }),
  );
  const cluster: ClusterUp = clusterOf({
    version: noted,
    nowMs: 1_000_000,
    nodes: [...controls, ...workers].map((host) =>
      nodeOf({
        name: host.name,
        role: host.role === 'control-plane' ? 'control-plane' : 'worker',
        internalAddress: host.internalAddress,
        kubeletVersion: `v${of(host).kubelet ?? of(host).api}`,
        ...of(host).node,
      }),
    ),
    pods: [...controls.flatMap((host) => podsOf(host.name, of(host))), ...proxies],
    members: [memberOf(1), memberOf(2), memberOf(3)],
    apiServers: new Map(controls.map(({ name }) => [name, 'ok'])),
  });
  return { cluster, of };
}

const installed = (version: string): LinuxFacts['packages'] =>
  new Map(
    ['kubeadm', 'kubelet', 'kubectl'].map((name) => [
      name,
      { state: 'installed' as const, version: `${version}-1.1`, held: true },
    ]),
  );

/** The changes that an upgrade to a version plans there, as `phase host: summary`. */
function planned(
  to: string,
  through: readonly string[],
  seen: ReturnType<typeof world>,
  facts: Partial<LinuxFacts> = {},
  shown: 'changes' | 'and what is waited for' = 'changes',
  over: Partial<Inventory> = {},
  hosts?: readonly string[],
  ofHost: Readonly<Record<string, Partial<LinuxFacts>>> = {},
) {
  const inventory = given(to, over);
  const traces = (host: LinuxHost): ReadonlySet<string> =>
    new Set([
      '/etc/kubernetes/kubelet.conf',
      '/etc/kubernetes/pki/ca.crt',
      ...(host.role === 'control-plane' ? ['/etc/kubernetes/admin.conf', '/etc/kubernetes/pki/ca.key'] : []),
    ]);
  const all = fleet({
    inventory,
    cluster: seen.cluster,
    facts: Object.fromEntries(
      inventory.hosts.map((host) => [
        host.name,
        {
          kubernetesTraces: traces(host as LinuxHost),
          caFingerprint: CA,
          kubeconfigCluster: { name: 'demo', server: 'https://k8s.example:6443' },
          packages: installed(seen.of(host as LinuxHost).kubelet ?? seen.of(host as LinuxHost).api),
          kubeletHealthy: true,
          ...facts,
          ...ofHost[host.name],
        },
      ]),
    ),
  });
  const phases = upgrade(inventory, all, {
    hops: hopsThrough(seen.cluster.version, through),
    keep: () => Promise.resolve(),
    drain: { timeoutMs: 1000 },
    losesPods: false,
    atOnce: 2,
  });
  const isChosen = (name: string): boolean => hosts?.includes(name) !== false;
  const chosen = withoutEarlyAddons(selected(phases, { hosts }), seen.cluster, hopsThrough('', through), isChosen);
  const { changes, errors } = plan(chosen, inventory, all);
  if (errors.length > 0) throw errors[0]!.error;
  return changes
    .filter(({ change }) => shown !== 'changes' || !isWait(change))
    .map(({ phase, host, step, summary }) => ({ phase, host, step, summary }));
}

/** The hosts of the tests have no package repositories yet. */
const isUpgrade = ({ step }: { readonly step: string }): boolean =>
  !/repository|^containerd|registr|runtime/.test(step);

const stepsOn = (changes: ReturnType<typeof planned>, host: string): readonly string[] =>
  changes.filter((one) => one.host === host && isUpgrade(one)).map(({ phase, step }) => `${phase} ${step}`);

test('a control plane leaves the load balancers of kbuild before its etcd or its API server restarts, and comes back when it has settled', () => {
  const balancer = new Map(controls.map(({ name }) => [name, { isUp: true, turn: 'ready' as const }]));
  const loadBalancer = {
    kind: 'keepalived',
    address: '10.0.0.100',
    port: 8443,
    healthPort: 8404,
    routerId: 100,
  } as const;
  const changes = planned('1.37.1', ['1.37.1'], world({ api: '1.36.3' }), { balancer }, 'changes', { loadBalancer });
  expect(stepsOn(changes, 'cp2').filter((step) => /^(etcd|control)/.test(step))).toEqual([
    'etcd-1.37 out-of-balancers',
    'etcd-1.37 etcd-minimum',
    'etcd-1.37 back-in-balancers',
    'control-plane-1.37 kubeadm-package',
    'control-plane-1.37 out-of-balancers',
    'control-plane-1.37 control-plane-upgraded',
    'control-plane-1.37 drained',
    'control-plane-1.37 kubelet-upgraded',
    'control-plane-1.37 back-in-balancers',
    'control-plane-1.37 uncordoned',
    'control-plane-1.37 workloads-back',
  ]);
  expect(changes.filter(({ host, step }) => host.startsWith('w') && step.endsWith('-balancers'))).toEqual([]);
});

describe('one hop', () => {
  const changes = planned('1.37.1', ['1.37.1'], world({ api: '1.36.3' }));

  test('downloads everything on every host before anything restarts', () => {
    const first = changes.findIndex(({ phase }) => phase !== 'fetch');
    expect(changes.slice(first).some(({ phase }) => phase === 'fetch')).toBe(false);
    expect(new Set(changes.slice(0, first).map(({ host }) => host)).size).toBe(7);
  });

  test('brings etcd to its minimum, then kubeadm, drain, kubelet and the way back of one control plane after another', () => {
    expect(stepsOn(changes, 'cp1')).toEqual([
      'fetch fetched-1.37.1',
      'etcd-1.37 etcd-minimum',
      'control-plane-1.37 kubeadm-package',
      'control-plane-1.37 control-plane-upgraded',
      'control-plane-1.37 drained',
      'control-plane-1.37 kubelet-upgraded',
      'control-plane-1.37 uncordoned',
      'control-plane-1.37 workloads-back',
      'addons-1.37 addons-upgraded',
      'settle downloads-forgotten',
      'verify coredns-spread',
    ]);
  });

  test('upgrades one worker alone, then the others in batches', () => {
    const phases = (host: string) => changes.find((one) => one.host === host && one.step === 'drained')?.phase;
    expect(workers.map(({ name }) => phases(name))).toEqual(['canary', 'workers-1', 'workers-1', 'workers-2']);
  });

  test('lets pods prefer upgraded workers, and cordons a batch before it drains a node of it', () => {
    expect(stepsOn(changes, 'w2')).toEqual([
      'fetch fetched-1.37.1',
      'old-workers marked',
      'cordon-1 cordoned',
      'workers-1 kubeadm-package',
      'workers-1 drained',
      'workers-1 kubelet-upgraded',
      'workers-1 uncordoned',
      'workers-1 unmarked',
      'workers-1 workloads-back',
      'settle downloads-forgotten',
      'verify coredns-spread',
    ]);
    expect(changes.filter(({ step }) => step === 'cordoned').map(({ host }) => host)).toEqual(['w2', 'w3']);
  });

  test('plans to write the package repository once', () => {
    const writes = changes.filter(({ host, step }) => host === 'w1' && step === 'kubernetes-repository-source');
    expect(writes.map(({ phase }) => phase)).toEqual(['fetch']);
  });

  test('says what runs and what will', () => {
    expect(changes.find(({ step }) => step === 'control-plane-upgraded')?.summary).toBe(
      'upgrade the control plane of cp1 from 1.36.3 to 1.37.1',
    );
    expect(changes.find(({ step, host }) => step === 'kubelet-upgraded' && host === 'w1')?.summary).toBe(
      'upgrade the kubelet of w1 from 1.36.3 to 1.37.1',
    );
  });
});

describe('one control plane alone, by --hosts', () => {
  const alone = (seen: ReturnType<typeof world>, hosts: readonly string[]) =>
    planned('1.37.1', ['1.37.1'], seen, {}, 'and what is waited for', {}, hosts);
  const steps = (changes: ReturnType<typeof planned>) =>
    changes.filter(isUpgrade).map(({ phase, host, step }) => `${phase} ${host} ${step}`);

  test('every member of etcd gets the minimum before its kubeadm: it holds for the whole cluster', () => {
    const changes = alone(world({ api: '1.36.3' }), ['cp1']);
    expect(changes.filter(({ step }) => step === 'etcd-minimum').map(({ host }) => host)).toEqual([
      'cp1',
      'cp2',
      'cp3',
    ]);
    expect(changes.filter(({ step }) => step === 'control-plane-upgraded').map(({ host }) => host)).toEqual(['cp1']);
  });

  test('the addons wait for the last control plane, and nothing waits for them', () => {
    const done = { api: '1.37.1', etcd: '3.7.0' };
    const old = { api: '1.36.3', etcd: '3.6.16' };
    const has = (changes: ReturnType<typeof planned>) => changes.some(({ step }) => step === 'addons-upgraded');
    expect(has(alone(world({ api: '1.36.3' }), ['cp1']))).toBe(false);
    const through = world(old, { cp1: done }, '1.37.1');
    const proxies = through.cluster.pods.map((pod) =>
      pod.name.startsWith('kube-proxy') ? { ...pod, images: ['registry.k8s.io/kube-proxy:v1.36.3'] } : pod,
    );
    const seen = { ...through, cluster: { ...through.cluster, pods: proxies } };
    expect(steps(alone(seen, ['cp1'])).filter((step) => !step.endsWith(' network-ready'))).toEqual([]);
    expect(has(alone(seen, ['cp2', 'cp3']))).toBe(true);
  });

  test('a run for workers alone touches no member of etcd', () => {
    const changes = alone(world({ api: '1.36.3' }), ['w1']);
    expect(new Set(changes.filter(isUpgrade).map(({ host }) => host))).toEqual(new Set(['w1']));
  });
});

test('addons are neither upgraded nor waited for while an API server is older: kubeadm would skip them without an error', () => {
  const { cluster } = world({ api: '1.36.3' }, { cp1: { api: '1.37.1' } }, '1.36.3');
  const target = { inventory: given('1.37.1'), host: cp1, facts: cluster, fleet: fleetIn(cluster) };
  const [change, ...more] = addonsUpgraded({ version: '1.37.1' }).diff(target);
  expect([change?.foreseen, change?.apply, more]).toEqual([true, undefined, []]);
});

test('no control plane restarts by kubeadm of 1.37 while a member of etcd is older than 3.6.11', async () => {
  const { cluster } = world({ api: '1.36.3', etcd: '3.6.16' }, { cp3: { api: '1.36.3', etcd: '3.6.8' } });
  const seen = joinedHost(cp1);
  const target = { inventory: given('1.37.1'), host: cp1, facts: seen[1], fleet: fleetIn(cluster, seen) };
  const [change] = controlPlaneUpgraded({ version: '1.37.1' }, () => Promise.resolve()).diff(target);
  const { on, sent } = recordingOn();
  await expect(change!.apply!(on)).rejects.toThrow(
    /every member of etcd must have 3\.6\.11 .*\(found 3\.6\.8 on cp3\)/,
  );
  expect(sent).toEqual([]);
});

describe('several hops', () => {
  const changes = planned('1.37.1', ['1.35.8', '1.36.4', '1.37.1'], world({ api: '1.34.4', etcd: '3.6.5' }));

  test('upgrade every control plane in each, and each worker once', () => {
    const drains = (host: string) => changes.filter((one) => one.host === host && one.step === 'drained').length;
    expect(drains('cp2')).toBe(3);
    expect(workers.map(({ name }) => drains(name))).toEqual([1, 1, 1, 1]);
    expect(changes.find(({ step, host }) => step === 'kubelet-upgraded' && host === 'w1')?.summary).toBe(
      'upgrade the kubelet of w1 from 1.34.4 to 1.37.1',
    );
  });

  test('download for workers the images of each, for kube-proxy goes through all, and the packages of the last', () => {
    const fetches = (host: string) =>
      changes.filter((one) => one.host === host && one.step.startsWith('fetched-')).map(({ summary }) => summary);
    expect(fetches('w1')).toEqual([
      'download images of Kubernetes 1.35.8 (found none)',
      'download images of Kubernetes 1.36.4 (found none)',
      'download packages and images of Kubernetes 1.37.1 (found none)',
    ]);
    expect(fetches('cp1').every((summary) => summary.startsWith('download packages and images'))).toBe(true);
  });

  test('name for each hop the version from which it starts', () => {
    const said = changes.filter(({ step, host }) => step === 'control-plane-upgraded' && host === 'cp3');
    expect(said.map(({ summary }) => summary)).toEqual([
      'upgrade the control plane of cp3 from 1.34.4 to 1.35.8',
      'upgrade the control plane of cp3 from 1.35.8 to 1.36.4',
      'upgrade the control plane of cp3 from 1.36.4 to 1.37.1',
    ]);
  });

  test('plan a change of the runtime in the first hop that makes it, and not again', () => {
    const times = new Map<string, number>();
    for (const { phase, host, summary } of changes)
      if (phase.startsWith('control-plane-') && summary.includes('containerd'))
        times.set(`${host}: ${summary}`, (times.get(`${host}: ${summary}`) ?? 0) + 1);
    expect(times.size).toBeGreaterThan(0);
    expect(new Set(times.values())).toEqual(new Set([1]));
  });

  test('bring etcd to its minimum only before the hop that needs it', () => {
    expect(new Set(changes.filter(({ step }) => step === 'etcd-minimum').map(({ phase }) => phase))).toEqual(
      new Set(['etcd-1.37']),
    );
  });
});

describe('what was cut off goes on', () => {
  const done = { api: '1.37.1', etcd: '3.7.0' };
  const names = (changes: ReturnType<typeof planned>, step: string) =>
    changes.filter((one) => one.step === step).map(({ host }) => host);

  test('after the first control plane: the others, and no change of the first', () => {
    const changes = planned('1.37.1', ['1.37.1'], world({ api: '1.36.3', etcd: '3.6.16' }, { cp1: done }, '1.37.1'));
    expect(names(changes, 'control-plane-upgraded')).toEqual(['cp2', 'cp3']);
    expect(names(changes, 'etcd-minimum')).toEqual([]);
  });

  test('before kubeadm wrote the version into the cluster: the first control plane again', () => {
    const changes = planned('1.37.1', ['1.37.1'], world({ api: '1.36.3', etcd: '3.6.16' }, { cp1: done }, '1.36.3'));
    expect(names(changes, 'control-plane-upgraded')[0]).toBe('cp1');
  });

  test('between drain and kubelet: the same worker, drained no second time', () => {
    const annotations = { 'kbuild.dev/drained': 'true', 'kbuild.dev/cordoned': 'true' };
    const w1 = { api: '', kubelet: '1.36.3', node: { unschedulable: true, annotations } };
    const changes = planned('1.37.1', ['1.37.1'], world(done, { w1 }));
    expect(stepsOn(changes, 'w1').slice(1)).toEqual([
      'canary kubeadm-package',
      'canary kubelet-upgraded',
      'canary uncordoned',
      'settle downloads-forgotten',
      'verify coredns-spread',
    ]);
  });

  test('before the workloads of a worker are back: they are waited for, and no other worker is drained', () => {
    const w1 = { ...done, node: { annotations: { 'kbuild.dev/workloads': 'Deployment/default/web=2' } } };
    const old = { ...done, kubelet: '1.36.3' };
    const changes = planned('1.37.1', ['1.37.1'], world(done, { w1, w2: old }), {}, 'and what is waited for');
    expect(changes.filter(({ step }) => step === 'others-are-back').map(({ summary }) => summary)).toEqual([
      'wait until the workloads of w1 are back',
    ]);
    expect(names(changes, 'workloads-back')).toEqual(['w1', 'w2']);
  });

  test('before the mark of a worker was taken away: it goes', () => {
    const taints = [{ key: 'kbuild.dev/old-version', value: '', effect: 'PreferNoSchedule' as const }];
    const changes = planned('1.37.1', ['1.37.1'], world(done, { w1: { ...done, node: { taints } } }));
    expect(names(changes, 'unmarked')).toEqual(['w1']);
  });

  test('after the kubelet: the node takes pods again, and an operator’s cordon stays', () => {
    const node = (annotations: Readonly<Record<string, string>>) => ({
      ...done,
      node: { unschedulable: true, annotations },
    });
    const ours = node({ 'kbuild.dev/drained': 'true', 'kbuild.dev/cordoned': 'true' });
    const theirs = node({ 'kbuild.dev/drained': 'true' });
    const changes = planned('1.37.1', ['1.37.1'], world(done, { w1: ours, w2: theirs }));
    expect(changes.filter(isUpgrade).map(({ host, summary }) => `${host}: ${summary}`)).toEqual([
      'w1: let w1 take pods again',
      'w2: leave w2 cordoned, as an operator wants it',
    ]);
  });

  test('a manifest that a killed kubeadm has moved away is put back first, if its marker says so', () => {
    const marker = { cluster: 'demo', action: 'upgrade', job: 'x', stage: 'begun' };
    const changes = planned('1.37.1', ['1.37.1'], world({ api: '1.36.3' }), { marker });
    expect(changes[0]?.summary).toMatch(
      /^put back .*kube-apiserver\.yaml.*, which an upgrade that was cut off had moved away$/,
    );
    const without = planned('1.37.1', ['1.37.1'], world({ api: '1.36.3' }));
    expect(names(without, 'manifests-back')).toEqual([]);
  });
});

describe('an upgrade that kubeadm did not end', () => {
  const begun = (about: string, how = 'node'): Marker => ({ ...{ cluster: 'demo', action: 'upgrade' }, job: 'x', stage: 'begun', about, how }); // prettier-ignore
  const newer = new Map([
    ...installed('1.36.3'),
    ['kubeadm', { state: 'installed' as const, version: '1.37.1-1.1', held: true }],
  ]);
  /** The version is set back to 1.36.3, and cp1 has kubeadm 1.37.1. */
  const setBack = (cp1: Partial<LinuxFacts>, seen = world({ api: '1.36.3' })) =>
    planned('1.36.3', ['1.36.3'], seen, {}, 'changes', {}, undefined, {
      cp1: { packages: newer, files: MANIFESTS, ...cp1 },
    });
  const found = (changes: ReturnType<typeof planned>) =>
    changes.filter(isUpgrade).map(({ host, step, summary }) => `${host} ${step}: ${summary}`);
  const kubeadmBack = 'cp1 kubeadm-package: install kubeadm 1.36.3 (found 1.37.1-1.1)';

  test('and that changed nothing is taken back by another version, with its kubeadm', () => {
    expect(found(setBack({ marker: begun('1.37.1') }))).toEqual([
      'cp1 upgrade-taken-back: take back the upgrade of cp1 to 1.37.1, which has changed nothing there',
      kubeadmBack,
    ]);
  });

  test('the kubeadm that it leaves goes back, too: it would put its own etcd into the older version', () => {
    const changes = setBack({});
    expect(found(changes)).toEqual([kubeadmBack]);
    expect(changes.filter(({ host, step }) => host === 'cp1' && /^kubernetes-repository/.test(step))).not.toEqual([]);
  });

  test('and that may have changed something is never continued by another version', () => {
    const etcd = world({ api: '1.36.3' }, { cp1: { api: '1.36.3', etcd: '3.7.0' } });
    expect(() => setBack({ marker: begun('1.37.1') }, etcd)).toThrow(
      'cp1: refused: an upgrade to 1.37.1 was cut off here, and may have changed etcd 3.7.0',
    );
  });

  test('is finished by its own version', () => {
    const marker = begun('1.37.1', 'apply');
    const changes = planned(
      '1.37.1',
      ['1.37.1'],
      world({ api: '1.37.1', etcd: '3.7.0' }),
      {},
      'changes',
      {},
      undefined,
      {
        cp1: { marker, files: MANIFESTS },
      },
    );
    expect(found(changes)).toEqual([
      'cp1 control-plane-upgraded: finish the upgrade of the control plane of cp1 to 1.37.1 (it was cut off)',
    ]);
  });

  /** kubeadm's command on cp1, when its API server has the version and kubeadm has noted it, or has not. */
  async function commandOf(noted: string, marker: Marker | 'absent'): Promise<string> {
    const { cluster } = world({ api: '1.36.3', etcd: '3.6.16' }, { cp1: { api: '1.37.1', etcd: '3.7.0' } }, noted);
    const seen = joinedHost(cp1, { marker });
    const external = given('1.37.1', { etcd: { topology: 'external' } as Inventory['etcd'], hosts: [cp1] });
    const target = { inventory: external, host: cp1, facts: seen[1], fleet: fleetIn(cluster, seen) };
    const [change] = controlPlaneUpgraded({ version: '1.37.1' }, () => Promise.resolve()).diff(target);
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    const job = sent.find((one) => one.kind === 'job');
    return /^HOW=(.*)$/m.exec(job?.kind === 'job' ? job.script : '')?.[1] ?? 'none';
  }

  test('as apply is repeated as apply until it ended, also when kubeadm has noted the version already', async () => {
    expect(await commandOf('1.36.3', begun('1.37.1', 'apply'))).toBe('apply');
    expect(await commandOf('1.37.1', begun('1.37.1', 'apply'))).toBe('apply');
    expect(await commandOf('1.37.1', begun('1.37.1', 'node'))).toBe('node');
  });
});

describe('what kubeadm’s apply leaves in the cluster', () => {
  const BINDING = 'clusterrolebinding/kubeadm:apiserver-kubelet-client';
  const rules = (version: string, lacks: string, api = version) => {
    const { cluster } = world({ api });
    const facts = { ...cluster, kubeadmRules: new Set([...cluster.kubeadmRules].filter((rule) => rule !== lacks)) };
    const target = { inventory: given(version), host: cp1, facts, fleet: fleetIn(facts, joinedHost(cp1)) };
    return rulesOfKubeadm({ version }).diff(target);
  };

  test('is verified after each hop, and made by kubeadm’s own phases where it is missing', async () => {
    const [change] = rules('1.36.4', BINDING);
    expect(change?.summary).toBe(`make what kubeadm's upgrade to 1.36.4 leaves in the cluster (found no ${BINDING})`);
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    expect(sent).toMatchObject([
      {
        ...{ kind: 'job', host: 'cp1' },
        script:
          'kubeadm upgrade apply phase upload-config all --config config.yaml\nkubeadm upgrade apply phase bootstrap-token --config config.yaml',
      },
    ]);
    expect(rules('1.36.4', 'role/kubeadm:kubelet-config')).toHaveLength(1);
    expect(rules('1.36.4', 'nothing')).toEqual([]);
  });

  test('has the binding of 1.36 from 1.36 on, and is not asked for while an API server is older', () => {
    expect(rules('1.35.8', BINDING)).toEqual([]);
    expect(rules('1.36.4', BINDING, '1.35.8')).toEqual([]);
  });

  test('stands in the phase of the addons, after the last control plane', () => {
    const seen = world({ api: '1.37.1', etcd: '3.7.0' });
    const cluster = { ...seen.cluster, kubeadmRules: new Set<string>() };
    const changes = planned('1.37.1', ['1.37.1'], { ...seen, cluster });
    expect(changes.filter(isUpgrade).map(({ phase, host, step }) => `${phase} ${host} ${step}`)).toEqual([
      'addons-1.37 cp1 kubeadm-rules',
    ]);
  });
});

describe('a control plane that does not serve', () => {
  const waitsOf = (seen: ReturnType<typeof world>) =>
    planned('1.37.1', ['1.37.1'], seen, {}, 'and what is waited for')
      .filter(({ step }) => step === 'control-planes-ready')
      .map(({ phase, host, summary }) => `${phase} ${host}: ${summary}`);
  const away = { ready: false, reason: 'NodeStatusUnknown' };

  test('before the run: named with its reason, and waited for before etcd or a control plane restarts', () => {
    const waits = waitsOf(world({ api: '1.36.3' }, { cp3: { api: '1.36.3', node: away } }));
    expect(waits[0]).toBe(
      'etcd-1.37 cp1: wait until cp3 serves again (found cp3: its node: NodeStatusUnknown): until then no control plane is restarted; `journalctl -u kubelet` there says more',
    );
    expect(waits).toHaveLength(6);
  });

  test('in the middle: the next one waits, and so does the host itself', () => {
    const done = { api: '1.37.1', etcd: '3.7.0' };
    const old = { api: '1.36.3', etcd: '3.6.16', node: away };
    const waits = waitsOf(world(done, { cp2: { ...old, node: {} }, cp3: old }));
    expect(waits.map((wait) => wait.split(':')[0])).toEqual([...['control-plane-1.37 cp2', 'control-plane-1.37 cp3']]);
  });

  test('keeps no host waiting whose member of etcd stays as it is: the upgrade of the other one may mend it', () => {
    const old = { api: '1.36.3', etcd: '3.6.16' };
    const waits = waitsOf(world(old, { cp2: { ...old, etcd: '3.6.8' }, cp3: { ...old, node: away } }));
    expect(waits.map((wait) => wait.split(':')[0]).filter((wait) => wait!.startsWith('etcd-'))).toEqual([
      'etcd-1.37 cp2',
    ]);
  });

  test('because of its older kubelet: that kubelet is replaced without a wait for its own node', () => {
    const cp1 = { api: '1.37.1', etcd: '3.7.0', kubelet: '1.36.3', node: away };
    expect(waitsOf(world({ api: '1.37.1', etcd: '3.7.0' }, { cp1 }))).toEqual([]);
  });

  test('its API server alone counts, too', () => {
    const seen = world({ api: '1.36.3' });
    const apiServers = new Map([...seen.cluster.apiServers, ['cp2', 'connection refused'] as const]);
    const [first] = waitsOf({ ...seen, cluster: { ...seen.cluster, apiServers } });
    expect(first).toContain('wait until cp2 serves again (found cp2: its API server: connection refused)');
  });

  /** A cluster in which the schedulers of these control planes crash. */
  const crashing = (...names: readonly string[]) => {
    const seen = world({ api: '1.36.3' });
    const pods = seen.cluster.pods.map((pod) =>
      names.some((name) => pod.name === `kube-scheduler-${name}`)
        ? { ...pod, ready: false, trouble: 'CrashLoopBackOff' }
        : pod,
    );
    return { ...seen, cluster: { ...seen.cluster, pods } };
  };

  test('its scheduler counts, too, for those that would leave none', () => {
    const waits = waitsOf(crashing('cp2'));
    expect(waits.map((wait) => wait.split(':')[0])).toEqual([
      ...['etcd-1.37 cp1', 'etcd-1.37 cp3', 'control-plane-1.37 cp1', 'control-plane-1.37 cp3'],
    ]);
    expect(waits[0]).toContain(
      'wait until cp2 serves again (found cp2: its kube-scheduler: CrashLoopBackOff): until then no control plane is restarted',
    );
  });

  test('its scheduler holds up no host whose own one does not work either: the upgrade may mend it', () => {
    expect(waitsOf(crashing('cp1', 'cp2', 'cp3'))).toEqual([]);
  });

  test('holds up no host that has nothing to upgrade', () => {
    expect(waitsOf(world({ api: '1.37.1', etcd: '3.7.0' }, { cp3: { api: '1.37.1', node: away } }))).toEqual([]);
  });
});

test('a cluster with one control plane is upgraded through that one', () => {
  const seen = world({ api: '1.36.3' });
  const alone: ClusterUp = {
    ...seen.cluster,
    nodes: seen.cluster.nodes.filter(({ name }) => name !== 'cp2' && name !== 'cp3'),
    apiServers: new Map([['cp1', 'ok']]),
  };
  const changes = planned('1.37.1', ['1.37.1'], { ...seen, cluster: alone });
  expect(changes.some(({ host, step }) => host === 'cp1' && step === 'drained')).toBe(true);
});

test('a host that has not joined yet is neither upgraded nor waited for', () => {
  const seen = world({ api: '1.37.1', etcd: '3.7.0' });
  const without = { ...seen.cluster, nodes: seen.cluster.nodes.filter(({ name }) => name !== 'w4') };
  const changes = planned('1.37.1', ['1.37.1'], { ...seen, cluster: without }, {}, 'and what is waited for');
  expect(changes.filter(({ host }) => host === 'w4').filter(isUpgrade)).toEqual([]);
});

test('a host that does not take part keeps its package repositories', () => {
  const seen = world({ api: '1.37.1', etcd: '3.7.0' }, { w1: { api: '', kubelet: '1.36.3' } });
  const writes = planned('1.37.1', ['1.36.4', '1.37.1'], seen).filter(({ step }) =>
    /^kubernetes-repository/.test(step),
  );
  expect(new Set(writes.map(({ host }) => host))).toEqual(new Set(['w1']));
});

test('a cluster that has the version has nothing to upgrade', () => {
  const changes = planned('1.37.1', ['1.37.1'], world({ api: '1.37.1', etcd: '3.7.0' }));
  expect(changes.filter(isUpgrade)).toEqual([]);
});

import { describe, expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { objectKey } from '../../src/cluster/fleet/view.ts';
import { Refused } from '../../src/errors.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { kubeadmPatches } from '../../src/kubeadm/control-plane-files.step.ts';
import { KUBE_PROXY } from '../../src/kubeadm/endpoint-objects.step.ts';
import { hostPatches } from '../../src/kubeadm/kubelet-config.ts';
import { kubeletSettings } from '../../src/kubeadm/kubelet.step.ts';
import { kubeadmSettings } from '../../src/kubeadm/settings.step.ts';
import { settingsOf } from '../../src/kubeadm/settings.ts';
import type { JsonObject } from '../../src/shell/decode.ts';
import {
  clusterOf,
  cp1,
  cp2,
  cp3,
  factsOf,
  fleetIn,
  fleetOf,
  freshHost,
  inventoryOf,
  joinedControlPlane,
  joinedHost,
  nodeOf,
  podOf,
  targetOf,
  w1,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const before = inventoryOf();
const withCluster = (cluster: JsonObject): Inventory => inventoryOf({ kubeadm: { ...before.kubeadm, cluster } });

/** What etcd's own member list says when its one member is well, as the probe prints it. */
const HEALTHY = `alarms {}
members {"members":[{"ID":1,"name":"cp1","peerURLs":["https://10.0.0.11:2380"],"clientURLs":["https://10.0.0.11:2379"]}]}
health [{"endpoint":"https://10.0.0.11:2379","health":true}]
status []`;

/** The parameters of a script, by name; lines of one. */
const parameters = (script: string): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    [...script.matchAll(/^([A-Z_]+)=(?:'([^']*)'|(\S*))$/gm)].map(([, name, quoted, plain]) => [
      name!,
      (quoted ?? plain ?? '').split('\n'),
    ]),
  );

const due = (inventory: Inventory, settings: JsonObject | undefined) => {
  const cluster = clusterOf({ settings });
  return kubeadmSettings.diff({
    inventory,
    host: cp1,
    facts: cluster,
    fleet: fleetIn(cluster, joinedHost(cp1)),
  });
};

describe('kubeadm settings of a live cluster', () => {
  test('that are as they were applied need nothing', () => {
    expect(due(before, settingsOf(before))).toEqual([]);
  });

  test('that were edited are applied by kubeadm’s phases and noted', async () => {
    const edited = withCluster({ apiServer: { extraArgs: [{ name: 'event-ttl', value: '2h' }] } });
    const [change] = due(edited, settingsOf(before));
    expect(change!.summary).toBe('apply the edited settings of kubeadm.cluster to the live cluster');
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    expect(sent).toMatchObject([
      { host: 'cp1', kind: 'run', title: 'engine/apply-objects.sh' },
      { host: 'cp1', kind: 'job', name: 'kubeadm-settings' },
    ]);
    expect((sent[1] as { readonly script: string }).script).toContain('PARTS=cluster\n');
  });

  test('say beforehand which parts of the control plane restart, and show old and new', async () => {
    const [change] = due(
      withCluster({ apiServer: { extraArgs: [{ name: 'event-ttl', value: '2h' }] } }),
      settingsOf(withCluster({ apiServer: { extraArgs: [{ name: 'event-ttl', value: '1h' }] } })),
    );
    expect(change!.restarts).toEqual([{ what: 'API server', hosts: ['cp1'], aboutMs: 70_000, atOnce: 1 }]);
    expect(await change!.preview!(recordingOn().on)).toBe(
      'kubeadm.cluster.apiServer.extraArgs\n  - name: event-ttl\n-   value: 1h\n+   value: 2h',
    );
  });

  test('of another image repository restart all of the control plane, etcd included, and kube-proxy', async () => {
    const edited = inventoryOf({ kubernetes: { ...before.kubernetes, imageRepository: 'registry.example' } });
    const [change] = due(edited, settingsOf(before));
    expect(change!.restarts!.map(({ what }) => what)).toEqual([
      'API server',
      'controller manager',
      'scheduler',
      'etcd',
      'kube-proxy',
    ]);
    expect(await change!.preview!(recordingOn().on)).toBe(
      'kubernetes.imageRepository.repository\n- registry.k8s.io\n+ registry.example',
    );
  });

  test('of kube-proxy restart its pods on every node; a mere note restarts nothing', () => {
    const edited = inventoryOf({ kubeadm: { ...before.kubeadm, kubeProxy: { mode: 'nftables' } } });
    expect(due(edited, settingsOf(before))[0]!.restarts).toMatchObject([{ what: 'kube-proxy', atOnce: 1 }]);
    expect(due(before, undefined)[0]).toMatchObject({ restarts: [] });
  });

  test('that were removed are drift too', () => {
    const noted = settingsOf(withCluster({ scheduler: { extraArgs: [{ name: 'v', value: '4' }] } }));
    expect(due(before, noted)).toHaveLength(1);
  });

  test('that are arguments of etcd, e.g. its quota, restart it alone, on one control plane after another', async () => {
    const quota = (value: string) => ({
      etcd: { local: { extraArgs: [{ name: 'quota-backend-bytes', value }], dataDir: '/data' } },
    });
    const edited = withCluster(quota('8589934592'));
    const [change] = due(edited, settingsOf(withCluster(quota('4294967296'))));
    expect(change!.disrupts).toBe(true);
    expect(change!.restarts).toEqual([{ what: 'etcd', hosts: ['cp1'], aboutMs: 40_000, atOnce: 1 }]);
    expect(await change!.preview!(recordingOn().on)).toContain('-   value: "4294967296"\n+   value: "8589934592"');
    const { on, sent } = recordingOn({ run: () => HEALTHY });
    await change!.apply!(on);
    const job = sent.find(({ kind }) => kind === 'job') as { readonly script: string } | undefined;
    expect(parameters(job!.script)).toMatchObject({ PARTS: ['cluster', 'etcd'] });
  });

  test.each(['force-new-cluster', 'initial-cluster', 'initial-cluster-state', 'name', 'listen-peer-urls'])(
    'that are etcd’s --%s are refused: the member might found a cluster of its own',
    (name) => {
      const withArgument = (value: string) => withCluster({ etcd: { local: { extraArgs: [{ name, value }] } } });
      const plain = withCluster({ etcd: { local: {} } });
      for (const [wanted, noted] of [
        [withArgument('a'), plain],
        [withArgument('a'), withArgument('b')],
        [plain, withArgument('a')],
      ] as const)
        expect(() => due(wanted, settingsOf(noted))).toThrow(`--${name} in kubeadm.cluster.etcd.local`);
      expect(due(withArgument('a'), settingsOf(withArgument('a')))).toEqual([]);
    },
  );

  test('that give etcd such an argument by its environment are refused, too', () => {
    const extraEnvs = [{ name: 'ETCD_FORCE_NEW_CLUSTER', value: 'true' }];
    const noted = settingsOf(withCluster({ etcd: { local: {} } }));
    expect(() => due(withCluster({ etcd: { local: { extraEnvs } } }), noted)).toThrow('--force-new-cluster in');
  });

  describe('that are arguments of etcd, of three control planes', () => {
    const hosts = [cp1, cp2, cp3];
    const settings = (cluster: JsonObject): Inventory =>
      inventoryOf({ hosts, kubeadm: { ...before.kubeadm, cluster } });
    const edited = settings({ etcd: { local: { extraArgs: [{ name: 'quota-backend-bytes', value: '8589934592' }] } } });
    /** What etcd says while these members are down. */
    const etcdWithout = (...down: readonly string[]): string => {
      const url = ({ internalAddress }: typeof cp1, port: number) => `https://${internalAddress}:${String(port)}`;
      return `alarms {}
members ${JSON.stringify({ members: hosts.map((host, at) => ({ ID: at + 1, name: host.name, peerURLs: [url(host, 2380)], clientURLs: [url(host, 2379)] })) })}
health ${JSON.stringify(hosts.map((host) => ({ endpoint: url(host, 2379), health: !down.includes(host.name) })))}
status []`;
    };
    const applied = async (etcd: string) => {
      const cluster = clusterOf({
        settings: settingsOf(settings({})),
        nodes: hosts.map(({ name }) => nodeOf({ name, role: 'control-plane' })),
        apiServers: new Map(hosts.map(({ name }) => [name, name === 'cp2' ? 'no answer' : 'ok'])),
      });
      const fleet = fleetIn(cluster, ...hosts.map((host) => [host, joinedControlPlane()] as const));
      const { on, sent } = recordingOn({ run: ({ title }) => (title === 'cluster/restart-gate.sh' ? '' : etcd) });
      const [change] = kubeadmSettings.diff({ inventory: edited, host: cp1, facts: cluster, fleet });
      const refused = await change!.apply!(on).then(
        () => '',
        (error: unknown) => String(error),
      );
      return { refused, changed: sent.flatMap((one) => (one.kind === 'job' ? [one.host] : [])) };
    };

    test('mend a member that is down by the former ones, before any other restarts', async () => {
      // In this fake it is still down when the next one is asked.
      const { refused, changed } = await applied(etcdWithout('cp2'));
      expect(changed).toEqual(['cp2']);
      expect(refused).toContain('cp3: refused: cp2 is not healthy');
      expect(await applied(etcdWithout())).toEqual({ refused: '', changed: ['cp2', 'cp3', 'cp1'] });
    });

    test('restart nothing while another member is down', async () => {
      expect(await applied(etcdWithout('cp3'))).toMatchObject({ changed: [] });
      expect(await applied(etcdWithout('cp2', 'cp3'))).toMatchObject({ changed: [] });
    });
  });

  test('of an etcd that control planes do not have are refused: no manifest there has them', () => {
    const elsewhere = (value: string): Inventory =>
      inventoryOf({
        etcd: { topology: 'built', endpoints: ['https://10.0.0.21:2379'] },
        kubeadm: {
          ...before.kubeadm,
          cluster: { etcd: { local: { extraArgs: [{ name: 'quota-backend-bytes', value }] } } },
        },
      });
    expect(() => due(elsewhere('8589934592'), settingsOf(elsewhere('4294967296')))).toThrow(
      'kubeadm.cluster.etcd was edited',
    );
  });

  test('that are names of the API servers are uploaded, and restart nothing: they are in certificates alone', () => {
    const [change] = due(withCluster({ apiServer: { certSANs: ['x.example'] } }), settingsOf(before));
    expect(change).toMatchObject({ restarts: [] });
    expect(change!.summary).toContain('kubeadm.cluster');
  });

  test('that say how long certificates are valid are uploaded for the next ones, and restart nothing', () => {
    const [change] = due(
      withCluster({ certificateValidityPeriod: '4380h', caCertificateValidityPeriod: '43800h' }),
      settingsOf(before),
    );
    expect(change).toMatchObject({ restarts: [] });
    expect(change!.summary).toContain('kubeadm.cluster');
  });

  test.each([
    ['kubeadm.cluster.encryptionAlgorithm', { encryptionAlgorithm: 'ECDSA-P256' }],
    ['kubeadm.cluster.etcd.local.dataDir', { etcd: { local: { dataDir: '/data' } } }],
  ])('%s cannot be changed: refused', (name, cluster) => {
    expect(() => due(withCluster(cluster), settingsOf(before))).toThrow(Refused);
    expect(() => due(withCluster(cluster), settingsOf(before))).toThrow(name);
  });

  describe('without kube-proxy', () => {
    const without = withCluster({ proxy: { disabled: true } });
    const dueWith = (inventory: Inventory, settings: JsonObject | undefined, ...there: readonly JsonObject[]) => {
      const cluster = clusterOf({ settings, objects: new Map(there.map((one) => [objectKey(one), one])) });
      return kubeadmSettings.diff({ inventory, host: cp1, facts: cluster, fleet: fleetIn(cluster, joinedHost(cp1)) });
    };

    test.each([['noted', settingsOf(before)] as const, ['unknown', undefined] as const])(
      'are refused while it runs, because Services would stop (settings %s)',
      (_, settings) => {
        expect(() => dueWith(without, settings, KUBE_PROXY)).toThrow(
          'the cluster runs kube-proxy, and kbuild does not',
        );
      },
    );

    test('are taken over when the operator has deleted it, and it does not come back by itself', () => {
      expect(dueWith(without, settingsOf(before))[0]!.summary).toContain('kubeadm.cluster');
      expect(() => dueWith(before, settingsOf(without))).toThrow('kubeadm.cluster.proxy was edited');
    });
  });

  describe('that reach pods', () => {
    const patched = (patches: Readonly<Record<string, string>>) =>
      inventoryOf({ kubeadm: { ...before.kubeadm, patches } });
    const proxied = inventoryOf({ proxy: { http: 'http://p.example:3128', noProxy: ['10.0.0.0/8', 'x.example'] } });
    const moved = inventoryOf({ kubernetes: { ...before.kubernetes, imageRepository: 'r.example/k8s' } });
    const partsOf = async (inventory: Inventory, noted: JsonObject) => {
      const [change] = due(inventory, noted);
      const { on, sent } = recordingOn({ run: () => HEALTHY });
      await change!.apply!(on);
      const job = sent.at(-1) as { readonly script: string };
      const written = sent.flatMap((one) => (one.kind === 'write' ? [one.path] : []));
      return { summary: change!.summary, disrupts: change!.disrupts, written, ...parameters(job.script) };
    };
    const scheduler = { 'kube-scheduler+merge.yaml': 'metadata: { labels: { a: b } }' };

    test('a patch file that was edited is written and applied, and the plan names it', async () => {
      expect(await partsOf(patched(scheduler), settingsOf(patched({ 'kube-scheduler+merge.yaml': 'a: b' })))).toEqual(
        expect.objectContaining({
          summary: 'apply the edited settings of kubeadm.patches to the live cluster',
          disrupts: true,
          written: ['/etc/kubernetes/patches/kube-scheduler+merge.yaml'],
          PARTS: ['manifests'],
        }),
      );
    });

    test('a patch file that was removed is drift; one that an older kbuild never noted is, too', async () => {
      expect(await partsOf(before, settingsOf(patched(scheduler)))).toMatchObject({ PARTS: ['manifests'] });
      const old = Object.fromEntries(Object.entries(settingsOf(before)).filter(([part]) => part !== 'patches'));
      expect(await partsOf(patched(scheduler), old)).toMatchObject({ PARTS: ['manifests'] });
      expect(due(before, old)).toEqual([]);
    });

    test('a patch of etcd rewrites etcd alone, one of CoreDNS its addon', async () => {
      const noted = settingsOf(before);
      expect(await partsOf(patched({ 'etcd+merge.yaml': 'a: b' }), noted)).toMatchObject({ PARTS: ['etcd'] });
      expect(await partsOf(patched({ 'corednsdeployment.yaml': 'a: b' }), noted)).toMatchObject({ PARTS: ['coredns'] });
    });

    test('a patch of kube-proxy, which kubeadm knows from 1.37 on, applies its addon again', async () => {
      const patch = patched({ 'kubeproxydaemonset+merge.yaml': 'a: b' });
      expect(await partsOf(patch, settingsOf(before))).toMatchObject({ PARTS: ['kubeProxy'] });
    });

    test('a patch of the kubelet is for the kubelets of the hosts', () => {
      expect(due(patched({ 'kubeletconfiguration.yaml': 'maxPods: 5' }), settingsOf(before))).toEqual([]);
    });

    test('another proxy reaches the manifests and kube-proxy; the order of its exceptions does not matter', async () => {
      expect(await partsOf(proxied, settingsOf(before))).toMatchObject({
        summary: 'apply the edited settings of proxy to the live cluster',
        PARTS: ['manifests', 'kubeProxy'],
        HTTP_PROXY_URL: ['http://p.example:3128'],
      });
      const turned = inventoryOf({ proxy: { http: 'http://p.example:3128', noProxy: ['x.example', '10.0.0.0/8'] } });
      expect(due(turned, settingsOf(proxied))).toEqual([]);
    });

    test('another image repository: images are pulled before any manifest names them', async () => {
      expect(await partsOf(moved, settingsOf(before))).toMatchObject({
        summary: 'apply the edited settings of kubernetes.imageRepository to the live cluster',
        PARTS: ['pull', 'cluster', 'etcd', 'kubeProxy', 'coredns'],
      });
    });

    test('the control planes go one after another, the one that acts last, and then they are noted', async () => {
      const hosts = [cp1, cp2, cp3];
      const inventory = inventoryOf({ hosts, kubeadm: { ...before.kubeadm, patches: scheduler } });
      const nodes = hosts.map(({ name }) => nodeOf({ name, role: 'control-plane' }));
      const cluster = clusterOf({ settings: settingsOf(before), nodes });
      const fleet = fleetIn(cluster, ...hosts.map((host) => [host, joinedControlPlane()] as const));
      const { on, sent } = recordingOn();
      await kubeadmSettings.diff({ inventory, host: cp1, facts: cluster, fleet })[0]!.apply!(on);
      const jobs = sent.flatMap((one) => (one.kind === 'job' ? [one] : []));
      expect(jobs.map(({ host }) => host)).toEqual(['cp2', 'cp3', 'cp1']);
      const notes = jobs.map(({ script }) => parameters(script)['SETTINGS']!.join(''));
      expect(notes.map((note) => note !== '')).toEqual([false, false, true]);
    });

    test.each([
      ['one that does not act', 'cp3', ['cp3', 'cp2', 'cp1']],
      ['the one that acts, which notes them last all the same', 'cp1', ['cp1', 'cp2', 'cp3', 'cp1']],
    ])('a control plane that does not work is the first: %s', async (_, broken, order) => {
      const hosts = [cp1, cp2, cp3];
      const inventory = inventoryOf({ hosts, kubeadm: { ...before.kubeadm, patches: scheduler } });
      const cluster = clusterOf({
        settings: settingsOf(before),
        nodes: hosts.map(({ name }) => nodeOf({ name, role: 'control-plane' })),
        apiServers: new Map(hosts.map(({ name }) => [name, 'ok'])),
        pods: hosts.map(({ name }) =>
          podOf({
            name: `kube-scheduler-${name}`,
            node: name,
            labels: { component: 'kube-scheduler' },
            ready: name !== broken,
          }),
        ),
      });
      const fleet = fleetIn(cluster, ...hosts.map((host) => [host, joinedControlPlane()] as const));
      const { on, sent } = recordingOn();
      await kubeadmSettings.diff({ inventory, host: cp1, facts: cluster, fleet })[0]!.apply!(on);
      expect(sent.flatMap((one) => (one.kind === 'job' ? [one.host] : []))).toEqual(order);
      // The gate comes before each of them, and asks through another one.
      const asked = sent.flatMap((one) => (one.kind === 'run' ? [`${one.title} ${one.host}`] : []));
      const [first, ...rest] = order.map((host) => `cluster/restart-gate.sh ${host === 'cp1' ? 'cp2' : 'cp1'}`);
      // What begins is noted once, when the first gate is passed.
      expect(asked).toEqual([first, 'engine/apply-objects.sh cp1', ...rest]);
    });
  });

  describe('that a run began to change', () => {
    const args = (value: string) => ({ apiServer: { extraArgs: [{ name: 'event-ttl', value }] } });
    const scheduler = 'kube-scheduler+merge.yaml';
    const dueAfter = (inventory: Inventory, unfinished: readonly string[], settings = settingsOf(before)) => {
      const cluster = clusterOf({ settings, unfinished });
      return kubeadmSettings.diff({ inventory, host: cp1, facts: cluster, fleet: fleetIn(cluster, joinedHost(cp1)) });
    };
    /** What the ConfigMap says before the first control plane changes. */
    const begun = async ([change]: ReturnType<typeof dueAfter>) => {
      const { on, sent } = recordingOn({ run: () => HEALTHY });
      await change!.apply!(on);
      const asked = sent as readonly { readonly title: string; readonly kind: string; readonly script: string }[];
      const first = asked.findIndex(({ title }) => title === 'engine/apply-objects.sh');
      expect(asked.slice(0, first).filter(({ kind }) => kind !== 'run')).toEqual([]);
      const { data } = JSON.parse(parameters(asked[first]!.script)['FIRST']!.join('\n')) as {
        readonly data: Readonly<Record<'settings' | 'unfinished', string>>;
      };
      const last = sent.at(-1) as { readonly script: string };
      return {
        settings: JSON.parse(data.settings) as unknown,
        unfinished: data.unfinished,
        last: parameters(last.script),
      };
    };

    test('are noted before the first control plane gets them, beside the former ones; the note at the end has no such list', async () => {
      const edited = inventoryOf({
        kubeadm: {
          ...before.kubeadm,
          cluster: { ...args('2h'), etcd: { local: { extraArgs: [{ name: 'quota-backend-bytes', value: '1' }] } } },
          patches: { [scheduler]: 'a: b' },
        },
      });
      const { settings, unfinished, last } = await begun(due(edited, settingsOf(before)));
      expect(settings).toEqual(JSON.parse(JSON.stringify(settingsOf(before))));
      expect(unfinished).toBe(`cluster\npatches\n${scheduler}\netcd\n`);
      expect(Object.keys((JSON.parse(last['SETTINGS']!.join('\n')) as { readonly data: object }).data)).toEqual([
        'settings',
      ]);
    });

    test('are applied although the inventory was set back: some control planes may have them', async () => {
      const found = dueAfter(before, ['cluster', 'etcd', 'patches', scheduler]);
      expect(found.map(({ summary }) => summary)).toEqual([
        'apply the edited settings of kubeadm.cluster, kubeadm.patches to the live cluster (found a change that may not have reached all control planes)',
      ]);
      expect(await found[0]!.preview!(recordingOn().on)).toBe(
        `kubeadm.cluster: a change of it may not have reached all control planes\nkubeadm.patches: ${scheduler} differs`,
      );
      expect(found[0]!.restarts!.map(({ what }) => what)).toEqual([
        'API server',
        'controller manager',
        'scheduler',
        'etcd',
      ]);
      expect((await begun(found)).last).toMatchObject({ PARTS: ['cluster', 'etcd'] });
    });

    test('stay in the list when the next run changes something else, until one ends', async () => {
      const other = inventoryOf({ kubeadm: { ...before.kubeadm, kubeProxy: { mode: 'nftables' } } });
      const { unfinished, last } = await begun(dueAfter(other, ['cluster']));
      expect(unfinished).toBe('cluster\nkubeProxy\n');
      expect(last).toMatchObject({ PARTS: ['cluster', 'kubeProxy'] });
    });
  });

  test('without a note are noted, not applied', () => {
    expect(due(before, undefined).map(({ summary }) => summary)).toEqual([
      'note the kubeadm settings of demo (found no note)',
    ]);
  });
});

describe('the kubelet of a joined host', () => {
  const shared = { cgroupDriver: 'systemd', syncFrequency: '0s', logging: { verbosity: 0 } };
  const live = { ...shared, containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock' };
  const own = { ...cp1, kubelet: { config: { maxPods: 50 }, extraArgs: [] } };
  const inventory = inventoryOf({ hosts: [own, w1] });

  const found = (facts: Partial<LinuxFacts>, of: Inventory = before) => {
    const cluster = clusterOf({ kubeletConfiguration: shared, settings: settingsOf(of) });
    const host = of.hosts[0] as typeof cp1;
    const all = joinedControlPlane({ kubeletConfig: live, kubeletFlags: ['--node-ip=10.0.0.11'], ...facts });
    return kubeletSettings.diff(targetOf(of, host, fleetIn(cluster, [host, all]))).map(({ summary }) => summary);
  };

  test('that runs with the cluster’s configuration and its own needs nothing', () => {
    expect(found({})).toEqual([]);
    expect(found({ kubeletConfig: { ...live, maxPods: 50 } }, inventory)).toEqual([]);
  });

  test.each([
    ['a setting of its own that is missing', {}, inventory, 'another maxPods'],
    ['a setting that it no longer has', { kubeletConfig: { ...live, maxPods: 50 } }, before, 'another maxPods'],
    ['another argument', { kubeletFlags: ['--node-ip=10.0.0.11', '--v=4'] }, before, 'other arguments'],
  ] as const)('%s', (_, facts, of, what) => {
    expect(found(facts, of)).toEqual([`configure and restart the kubelet of cp1 (found ${what})`]);
  });

  test('restarts, and old and new of its settings and arguments are shown', async () => {
    const cluster = clusterOf({ kubeletConfiguration: shared, settings: settingsOf(before) });
    const facts = joinedControlPlane({
      kubeletConfig: { ...live, maxPods: 80 },
      kubeletFlags: ['--node-ip=10.0.0.11', '--v=4'],
    });
    const [change] = kubeletSettings.diff(targetOf(inventory, own, fleetIn(cluster, [own, facts])));
    expect(change!.restarts).toEqual([{ what: 'kubelet', hosts: ['cp1'], aboutMs: 10_000 }]);
    expect(await change!.preview!(recordingOn().on)).toBe(
      '/var/lib/kubelet/config.yaml\n- maxPods: 80\n+ maxPods: 50\n/var/lib/kubelet/kubeadm-flags.env\n  --node-ip=10.0.0.11\n- --v=4',
    );
  });

  test('that all nodes share: the new value is shown before the cluster has it', async () => {
    const wants = { config: { maxPods: 50 }, extraArgs: [] };
    const edited = inventoryOf({
      hosts: [
        { ...cp1, kubelet: wants },
        { ...w1, kubelet: wants },
      ],
    });
    const noted = { ...settingsOf(before), kubelet: { ...settingsOf(before).kubelet, serializeImagePulls: false } };
    const cluster = clusterOf({ kubeletConfiguration: { ...shared, serializeImagePulls: false }, settings: noted });
    const facts = joinedControlPlane({
      kubeletConfig: { ...live, serializeImagePulls: false },
      kubeletFlags: ['--node-ip=10.0.0.11'],
    });
    const host = edited.hosts[0] as typeof cp1;
    const [change] = kubeletSettings.diff(targetOf(edited, host, fleetIn(cluster, [host, facts])));
    expect(await change!.preview!(recordingOn().on)).toBe(
      '/var/lib/kubelet/config.yaml\n- serializeImagePulls: false\n+ maxPods: 50',
    );
  });

  describe('with patch files of the inventory', () => {
    const merge = 'kubeletconfiguration0+merge.yaml';
    const json = 'kubeletconfiguration1+json.yaml';
    const strategic = 'kubeletconfiguration2.json';
    const with_ = (patches: Readonly<Record<string, string>>) =>
      inventoryOf({ kubeadm: { ...before.kubeadm, patches } });
    test.each([
      ['that was applied', { [merge]: 'maxPods: 60' }, { maxPods: 60 }, []],
      ['that was edited', { [merge]: 'maxPods: 70' }, { maxPods: 60 }, ['maxPods']],
      ['that was removed', {}, { maxPods: 60 }, ['maxPods']],
      ['that takes a setting away', { [merge]: 'syncFrequency: null' }, {}, ['syncFrequency']],
      ['of JSON', { [json]: '[{op: add, path: /logging/format, value: json}]' }, {}, ['logging']],
      ['of JSON that was applied', { [json]: '[{op: add, path: /a, value: {b: 1}}]' }, { a: { b: 1 } }, []],
      ['of the strategic kind', { [strategic]: '{"maxPods": 80}' }, { maxPods: 60 }, ['maxPods']],
      ['that comes after another', { [merge]: 'maxPods: 1', [strategic]: '{"maxPods": 2}' }, { maxPods: 2 }, []],
      ['that only kubeadm can apply', { [strategic]: '{"evictionHard": {"$patch": "replace"}}' }, { maxPods: 9 }, []],
    ])('one %s', (_, patches, config, differs) => {
      const expected = differs.map((key) => `configure and restart the kubelet of cp1 (found another ${key})`);
      expect(found({ kubeletConfig: { ...live, ...config } }, with_(patches))).toEqual(expected);
    });
  });

  test('keeps the arguments that kubeadm wrote for itself', () => {
    expect(found({ kubeletFlags: ['--register-with-taints=a=b:NoSchedule', '--node-ip=10.0.0.11'] })).toEqual([]);
  });

  test('of a host that has not joined is left alone', () => {
    const target = targetOf(before, cp1, fleetIn(clusterOf(), freshHost(cp1)));
    expect(kubeletSettings.diff(target)).toEqual([]);
  });
});

describe('patch files', () => {
  const inventory = inventoryOf({ hosts: [cp1, { ...w1, kubelet: { config: { maxPods: 50 }, extraArgs: [] } }] });
  const host = inventory.hosts[1] as typeof w1;
  const path = '/etc/kubernetes/patches/kubeletconfigurationzz-kbuild+merge.yaml';
  const of = (files: LinuxFacts['files'], who = host) =>
    kubeadmPatches.diff(targetOf(inventory, who, fleetOf([who, factsOf({ files })])));
  const file = { kind: 'file', sha256: '0'.repeat(64), mode: 0o644, owner: 'root:root', mtimeMs: 0 } as const;

  test('are written where a host has settings of its own', async () => {
    const [change] = of(new Map());
    expect(change!.summary).toBe(`write ${path} (found none)`);
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    expect(sent).toMatchObject([{ kind: 'write', path, content: Object.values(hostPatches(inventory, host))[0] }]);
  });

  test('that the inventory does not have are removed', () => {
    expect(of(new Map([[path, file]]), cp1).map(({ summary }) => summary)).toEqual([
      `remove ${path} (not in the inventory)`,
    ]);
    expect(of(new Map([[path, file]])).map(({ summary }) => summary)).toEqual([
      `write ${path} (found another content)`,
    ]);
  });
});

test('settings wait for an API that does not answer: what is live may differ', () => {
  const down = { state: 'down', reason: 'no answer' } as const;
  const fleet = fleetIn(down, joinedHost(cp1), joinedHost(w1));
  const wait = [{ summary: 'wait for the API server to answer (no answer)' }];
  const inventory = inventoryOf();
  expect(kubeadmSettings.diff({ inventory, host: cp1, facts: fleet.cluster, fleet })).toEqual(wait);
  expect(kubeletSettings.diff(targetOf(inventory, w1, fleet))).toEqual(wait);
});

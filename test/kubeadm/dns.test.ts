import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ClusterUp, objectKey } from '../../src/cluster/fleet/view.ts';
import { Refused } from '../../src/errors.ts';
import type { Dns } from '../../src/inventory/control-plane.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { COREDNS } from '../../src/kubeadm/coredns.ts';
import { corefileWith, dnsBlocks, ownBlocks } from '../../src/kubeadm/dns-blocks.step.ts';
import { hostPatches } from '../../src/kubeadm/kubelet-config.ts';
import { kubeadmSettings } from '../../src/kubeadm/settings.step.ts';
import { settingsOf } from '../../src/kubeadm/settings.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost, w1 } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const PATCH = 'corednsdeploymentzz-kbuild+strategic.yaml';
const before = inventoryOf();
const withDns = (dns: Partial<Dns>): Inventory => inventoryOf({ dns: { blocks: {}, ...dns } });

/** kubeadm's Deployment as the API shows it, with other values. */
const deployment = (replicas = 2, memory = '170Mi') => ({
  ...COREDNS,
  spec: {
    replicas,
    template: {
      spec: {
        priorityClassName: 'system-cluster-critical',
        serviceAccountName: 'coredns',
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        containers: [
          {
            name: 'coredns',
            image: 'registry.k8s.io/coredns/coredns:v1.14.2',
            resources: { limits: { memory }, requests: { cpu: '100m', memory: '70Mi' } },
            readinessProbe: { httpGet: { path: '/ready', port: 'readiness-probe' } },
          },
        ],
        volumes: [
          { name: 'config-volume', configMap: { name: 'coredns', items: [{ key: 'Corefile', path: 'Corefile' }] } },
        ],
      },
    },
  },
});
const clusterWith = (live: object | undefined, over: Partial<ClusterUp> = {}): ClusterUp =>
  clusterOf({ objects: new Map(live === undefined ? [] : [[objectKey(COREDNS), { ...live }]]), ...over });
const target = (inventory: Inventory, cluster: ClusterUp) => ({
  inventory,
  host: cp1,
  facts: cluster,
  fleet: fleetIn(cluster, joinedHost(cp1)),
});
const jobOf = async (change: ReturnType<typeof dnsBlocks.diff>[number] | undefined) => {
  const { on, sent } = recordingOn();
  await change!.apply!(on);
  return {
    written: sent.flatMap((one) => (one.kind === 'write' ? [one.path] : [])),
    job: sent.at(-1) as { readonly name: string; readonly script: string },
  };
};

describe('replicas and resources of DNS', () => {
  const three = withDns({ replicas: 3, resources: { limits: { memory: '300Mi', cpu: '0.5' } } });

  test('are a patch of kubeadm on control planes, so that init and upgrades apply it; there is none without them', () => {
    expect(parse(hostPatches(three, cp1)[PATCH]!)).toEqual({
      spec: {
        replicas: 3,
        template: {
          spec: { containers: [{ name: 'coredns', resources: { limits: { memory: '300Mi', cpu: '0.5' } } }] },
        },
      },
    });
    expect(Object.keys(hostPatches(three, w1))).not.toContain(PATCH);
    expect(Object.keys(hostPatches(before, cp1))).not.toContain(PATCH);
  });

  test('that were edited are applied by kubeadm, and restart nothing of the control plane', async () => {
    const [change] = kubeadmSettings.diff(target(three, clusterWith(deployment(), { settings: settingsOf(before) })));
    expect(change!.summary).toBe(
      'apply the edited settings of dns to the live cluster (found CoreDNS with replicas 2, limits.cpu unset, limits.memory 170Mi)',
    );
    expect(change).toMatchObject({ restarts: [], disrupts: false });
    const { written, job } = await jobOf(change);
    expect(written).toEqual([`/etc/kubernetes/patches/${PATCH}`]);
    expect(job.script).toContain('PARTS=coredns\n');
    expect(job.script).toMatch(/^DNS_REPLICAS=''$/m);
  });

  test('that something else changed in the cluster are drift, which the plan names', async () => {
    const live = deployment(1, '300Mi');
    Object.assign(live.spec.template.spec.containers[0]!.resources.limits, { cpu: '500m' });
    const [change] = kubeadmSettings.diff(target(three, clusterWith(live, { settings: settingsOf(three) })));
    expect(change!.summary).toBe('apply the settings of dns to the live cluster (found CoreDNS with replicas 1)');
    expect(await change!.preview!(recordingOn().on)).toBe('dns: found replicas 1');
  });

  test('need nothing if the API spells them in another unit', () => {
    const live = deployment(3, '307200Ki');
    Object.assign(live.spec.template.spec.containers[0]!.resources.limits, { cpu: '500m' });
    expect(kubeadmSettings.diff(target(three, clusterWith(live, { settings: settingsOf(three) })))).toEqual([]);
  });

  test("that left the inventory are taken back: kubeadm's two pods, and its resources", async () => {
    const [change] = kubeadmSettings.diff(
      target(before, clusterWith(deployment(3, '300Mi'), { settings: settingsOf(three) })),
    );
    expect(change!.summary).toBe('apply the edited settings of dns to the live cluster');
    expect((await jobOf(change)).job.script).toMatch(/^DNS_REPLICAS=2$/m);
  });

  test('that the inventory never named stay as the operator set them', () => {
    expect(kubeadmSettings.diff(target(before, clusterWith(deployment(5), { settings: settingsOf(before) })))).toEqual(
      [],
    );
    const old = Object.fromEntries(Object.entries(settingsOf(before)).filter(([part]) => part !== 'dns'));
    expect(kubeadmSettings.diff(target(before, clusterWith(deployment(5), { settings: old })))).toEqual([]);
  });

  test('of a cluster whose Deployment is gone are left to kubeadm', () =>
    expect(kubeadmSettings.diff(target(three, clusterWith(undefined, { settings: settingsOf(three) })))).toEqual([]));
});

describe('blocks of DNS', () => {
  const KUBEADMS = '.:53 {\n    errors\n    ready\n}\n';
  const blocks = { 'corp.example.com': 'forward . 10.0.0.53' };
  const mine = withDns({ blocks });
  const own = ownBlocks(blocks);
  const live = (corefile: string, over: Partial<ClusterUp> = {}) => clusterWith(deployment(), { corefile, ...over });
  const diff = (inventory: Inventory, cluster: ClusterUp) => dnsBlocks.diff(target(inventory, cluster));

  test('are tried by a pod before the Corefile gets them', async () => {
    const [change] = diff(mine, live(KUBEADMS));
    expect(change!.summary).toBe('write dns.blocks into the Corefile (found none)');
    const { job } = await jobOf(change);
    expect(job.name).toBe('dns-blocks');
    const patch = JSON.parse(/^PATCH='(.*)'$/m.exec(job.script)![1]!) as unknown;
    expect(patch).toEqual([
      { op: 'test', path: '/data/Corefile', value: KUBEADMS },
      { op: 'replace', path: '/data/Corefile', value: corefileWith(KUBEADMS, own) },
    ]);
    const pod = JSON.parse(/^POD='(.*)'$/m.exec(job.script)![1]!.replaceAll(String.raw`'\''`, "'")) as {
      readonly metadata: { readonly labels: object; readonly annotations: object };
      readonly spec: object;
    };
    expect(pod.metadata.annotations).toEqual({ 'kbuild.dev/corefile': corefileWith(KUBEADMS, own) });
    // Without the label of CoreDNS it gets no requests; without priority and requests it takes no other pod's place.
    expect(pod.metadata.labels).toEqual({ app: 'kbuild-dns-trial' });
    expect(pod.spec).toEqual({
      serviceAccountName: 'coredns',
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      restartPolicy: 'Never',
      activeDeadlineSeconds: 300,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'coredns',
          image: 'registry.k8s.io/coredns/coredns:v1.14.2',
          readinessProbe: { httpGet: { path: '/ready', port: 'readiness-probe' } },
        },
      ],
      volumes: [
        {
          name: 'config-volume',
          downwardAPI: {
            items: [{ path: 'Corefile', fieldRef: { fieldPath: "metadata.annotations['kbuild.dev/corefile']" } }],
          },
        },
      ],
    });
  });

  test('need nothing if the Corefile has them, whatever else it has', () =>
    expect(diff(mine, live(`# mine\n${corefileWith(KUBEADMS, own)}`))).toEqual([]));

  test('that were edited in the cluster are written again, and the plan shows old and new', async () => {
    const edited = corefileWith(KUBEADMS, own).replace('10.0.0.53', '10.0.0.99');
    const [change] = diff(mine, live(edited));
    expect(change!.summary).toBe('write dns.blocks into the Corefile (found others)');
    expect(await change!.preview!(recordingOn().on)).toMatch(
      /-\s+forward \. 10\.0\.0\.99\n\+\s+forward \. 10\.0\.0\.53/,
    );
  });

  test('that left the inventory leave the Corefile, without a trial', async () => {
    const [change] = diff(before, live(corefileWith(KUBEADMS, own)));
    expect(change!.summary).toBe('take dns.blocks out of the Corefile (not in the inventory any more)');
    const { job } = await jobOf(change);
    expect(job.script).toMatch(/^POD=''$/m);
    expect(JSON.parse(/^PATCH='(.*)'$/m.exec(job.script)![1]!)).toContainEqual({
      op: 'replace',
      path: '/data/Corefile',
      value: KUBEADMS,
    });
  });

  test('are refused where no pod can try them: CoreDNS is not that of kubeadm', () =>
    expect(() => diff(mine, clusterWith(undefined, { corefile: KUBEADMS }))).toThrow(/cannot try dns\.blocks/));

  test('are refused where an operator has a block for the zone, or one of the two lines is gone', () => {
    expect(() => diff(mine, live(`${KUBEADMS}corp.example.com:53 {\n}\n`))).toThrow(Refused);
    expect(() => diff(mine, live(`${KUBEADMS}corp.example.com:53 {\n}\n`))).toThrow(
      /a block for corp\.example\.com that kbuild/,
    );
    expect(() => diff(mine, live(`${KUBEADMS}# End of dns.blocks.\n`))).toThrow(/only one of the two lines/);
    expect(diff(before, live(`${KUBEADMS}# End of dns.blocks.\n`))).toEqual([]);
  });

  test('wait for an API that does not answer, and are no change of a cluster without CoreDNS or in the middle of an upgrade', () => {
    const { diff: of } = dnsBlocks;
    const down = { state: 'down', reason: 'x' } as const;
    expect(of({ ...target(mine, clusterOf()), facts: down })).toMatchObject([
      { summary: expect.stringContaining('API') as string },
    ]);
    expect(of({ ...target(before, clusterOf()), facts: down })).toEqual([]);
    expect(diff(mine, live(''))).toEqual([]);
    expect(diff(before, live(KUBEADMS))).toEqual([]);
  });
});

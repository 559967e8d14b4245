import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { PodView } from '../../src/cluster/fleet/view.ts';
import { wantedObjects } from '../../src/commands/objects.phases.ts';
import { listeningPorts, openings } from '../../src/host/openings.value.ts';
import { linuxWorkers } from '../../src/inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import type { ServiceBalancers } from '../../src/inventory/network-plugins.ts';
import { noServiceAddresses } from '../../src/kubeadm/clean-host.step.ts';
import { loadBalancerSteps } from '../../src/network/load-balancers.step.ts';
import { networkNamespaces } from '../../src/network/load-balancers.value.ts';
import { roleImages } from '../../src/runtime/images.step.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost, nodeOf, w1 } from '../fakes/cluster.ts';
import { flannelNetwork } from '../fakes/network.ts';
import { GOOD, load, problemsOf } from '../inventory/load.ts';

const METALLB = `apiVersion: v1
kind: Namespace
metadata: { name: metallb-system }
---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: speaker, namespace: metallb-system }
spec:
  template:
    spec: { containers: [{ name: speaker, image: "quay.io/metallb/speaker:v0.16.2", args: ["--port=9120"] }] }
`;

const withSettings = (settings: string, text = GOOD): string =>
  text.replace('network:', `network:\n  loadBalancers: ${settings}`);
const loaded = async (settings: string, text = GOOD): Promise<Inventory> =>
  (await load(withSettings(settings, text), { 'metallb.yaml': METALLB })).inventory;
const having = (settings: Partial<ServiceBalancers>): Inventory =>
  inventoryOf({
    network: {
      ...flannelNetwork(),
      loadBalancers: {
        ...{ kind: 'metallb', pools: { lan: ['10.0.0.240-10.0.0.250'] }, interfaces: [], manifests: [] },
        ...{ image: 'ghcr.io/kube-vip/kube-vip:v1.0.1', providerImage: 'provider:v1' },
        ...settings,
      },
    },
  });

describe('load balancers of Services in the inventory', () => {
  test('MetalLB is that of its project, with the checksum that kbuild knows', async () => {
    const asked: string[] = [];
    const fetch = (url: string): Promise<Uint8Array> => {
      asked.push(url);
      return Promise.resolve(Buffer.from('another manifest'));
    };
    const failed = load(withSettings('{ kind: metallb, pools: { lan: [10.0.0.240/28] } }'), {}, { fetch });
    await expect(failed).rejects.toMatchObject({
      problems: [{ message: expect.stringMatching(/has SHA-256 .*, and the inventory says e5f7c268/) as string }],
    });
    expect(asked).toEqual([
      'https://raw.githubusercontent.com/metallb/metallb/v0.16.2/config/manifests/metallb-native.yaml',
    ]);
  });

  test('its objects come first, then the pools; hosts pull its images and open its ports for each other', async () => {
    const inventory = await loaded(
      '{ kind: metallb, manifest: metallb.yaml, pools: { lan: [10.0.0.240-10.0.0.250] } }',
    );
    expect(wantedObjects(inventory).slice(-4)).toMatchObject([
      { kind: 'Namespace' },
      { kind: 'DaemonSet', spec: { template: { spec: { containers: [{ args: ['--port=9120'] }] } } } },
      { kind: 'IPAddressPool', metadata: { name: 'lan' }, spec: { addresses: ['10.0.0.240-10.0.0.250'] } },
      { kind: 'L2Advertisement', spec: { ipAddressPools: ['lan'] } },
    ]);
    const [worker] = linuxWorkers(inventory) as [LinuxHost];
    expect(roleImages({ inventory, host: worker })).toContain('quay.io/metallb/speaker:v0.16.2');
    expect(listeningPorts(inventory, worker)).toContainEqual(
      expect.objectContaining({ port: 7946, protocol: 'udp', from: 'nodes' }),
    );
    expect(openings(inventory, worker)).toContainEqual(
      expect.objectContaining({ ports: [7946, 7946], protocol: 'tcp', from: '10.0.0.11' }),
    );
    expect(networkNamespaces(inventory)).toContain('metallb-system');
  });

  test('without workers MetalLB announces from control planes, which it leaves alone otherwise', async () => {
    const alone = GOOD.replace(/ {2}- name: w1[^]*/, '');
    const inventory = await loaded('{ kind: metallb, manifest: metallb.yaml, pools: { lan: [10.0.0.240/28] } }', alone);
    expect(JSON.stringify(wantedObjects(inventory))).toContain('["--port=9120","--ignore-exclude-lb"]');
  });

  test('kube-vip is a DaemonSet of its own with its cloud provider, which has the addresses', async () => {
    const objects = wantedObjects(
      await loaded('{ kind: kube-vip, pools: { lan: [10.0.0.240/28, 10.0.1.1-10.0.1.9] } }'),
    );
    expect(objects).toContainEqual(
      expect.objectContaining({ data: { 'cidr-global': '10.0.0.240/28', 'range-global': '10.0.1.1-10.0.1.9' } }),
    );
    expect(objects.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['DaemonSet', 'Deployment', 'ClusterRole']));
  });

  test.each([
    ['{ kind: metallb, pools: { a: [10.0.0.250-10.0.0.240] } }', 'a first and a last address of one family'],
    ['{ kind: metallb, pools: { a: [10.0.0.241/28] } }', 'must be a network'],
    ['{ kind: metallb, pools: { a: ["fd00::/120"] } }', 'is of IPv6, which Services of this cluster do not have'],
    ['{ kind: metallb, pools: { a: [10.0.0.8/29] } }', 'has the address of cp1, 10.0.0.11'],
    ['{ kind: metallb, pools: { a: [10.96.0.0/24] } }', 'has addresses of network.serviceSubnet, 10.96.0.0/12'],
    ['{ kind: metallb, pools: { a: [127.0.0.0/24] } }', 'no other host can reach'],
    [
      '{ kind: metallb, pools: { a: [10.0.0.240/28], b: [10.0.0.250-10.0.1.4] } }',
      'has addresses of pool a, 10.0.0.240/28',
    ],
    ['{ kind: metallb, pools: {} }', 'needs a pool'],
    ['{ kind: metallb, image: "a:1", pools: { a: [10.0.0.240/28] } }', 'is only for kind kube-vip'],
    ['{ kind: metallb, manifest: "http://a.example/b", pools: { a: [10.0.0.240/28] } }', 'use https://, or a file'],
    ['{ kind: cilium, pools: { a: [10.0.0.240/28] } }', 'only as the network plugin and without kube-proxy'],
    ['{ kind: kube-vip, pools: { a: [10.0.0.240/28], b: [10.0.2.0/28] } }', 'takes one pool'],
    ['{ kind: kube-vip, interfaces: [a, b], pools: { a: [10.0.0.240/28] } }', 'answers at one interface'],
  ])('%s is refused', async (settings, message) => {
    const problems = await problemsOf(withSettings(settings), { 'metallb.yaml': METALLB });
    expect(JSON.stringify(problems)).toContain(message);
  });

  test('kube-proxy in mode ipvs needs strictARP', async () => {
    const settings = '{ kind: kube-vip, pools: { lan: [10.0.0.240/28] } }';
    const ipvs = (more: string): string =>
      withSettings(settings, GOOD.replace('hosts:', `kubeadm: { kubeProxy: { mode: ipvs${more} } }\nhosts:`));
    expect(JSON.stringify(await problemsOf(ipvs('')))).toContain('kubeadm.kubeProxy.ipvs.strictARP: true');
    await expect(load(ipvs(', ipvs: { strictARP: true }'))).resolves.toBeDefined();
  });
});

describe('the steps', () => {
  const pod = (component: string, more: Partial<PodView> = {}): PodView => ({
    ...{ namespace: 'metallb-system', name: `${component}-1`, node: 'w1', labels: { app: 'metallb', component } },
    ...{ ready: true, trouble: '', lastRestartMs: 0, images: [], startedMs: 0 },
    ...more,
  });
  const ready = loadBalancerSteps[1]!;
  const foundIn = (facts: ReturnType<typeof clusterOf>) => {
    const about = { inventory: having({}), host: cp1, facts, fleet: fleetIn(facts, joinedHost(cp1)) };
    return ready.diff(about).map(({ summary }) => summary);
  };
  const found = (...pods: readonly PodView[]) => foundIn(clusterOf({ pods }));

  test('wait for both programs of MetalLB, and name what is not ready', () => {
    expect(found(pod('controller'), pod('speaker'))).toEqual([]);
    expect(found(pod('speaker'))).toEqual(['wait until MetalLB works (found not all pods)']);
    expect(found(pod('controller', { ready: false, trouble: 'ImagePullBackOff: no' }), pod('speaker'))).toEqual([
      'wait until MetalLB works (found controller-1 not ready: ImagePullBackOff: no)',
    ]);
  });

  test('do not wait for pods of a node that is down', () => {
    const dead = pod('speaker', { name: 'speaker-2', node: 'w9', ready: false });
    expect(found(pod('controller'), pod('speaker'), dead)).toHaveLength(1);
    const nodes = [{ ...nodeOf({ name: 'w9' }), ready: false }];
    expect(foundIn(clusterOf({ pods: [pod('controller'), pod('speaker'), dead], nodes }))).toEqual([]);
  });

  test('nothing is wanted without the setting', () => {
    const facts = clusterOf({});
    const about = { inventory: inventoryOf({}), host: cp1, facts, fleet: fleetIn(facts, joinedHost(cp1)) };
    expect(loadBalancerSteps.flatMap((step) => step.diff(about))).toEqual([]);
  });

  test('reset takes the addresses off that kube-vip left, and no other one', () => {
    const facts = {
      ...joinedHost(w1)[1],
      interfaces: [{ name: 'eth0', addresses: ['10.0.0.21', '10.0.0.241'] }],
    } as unknown as LinuxFacts;
    const about = (kind: ServiceBalancers['kind']) =>
      ({ inventory: having({ kind }), host: w1, facts, fleet: fleetIn(clusterOf({}), joinedHost(w1)) }) as Parameters<
        typeof noServiceAddresses.diff
      >[0];
    expect(noServiceAddresses.diff(about('kube-vip')).map(({ summary }) => summary)).toEqual([
      'delete the address 10.0.0.241 of a Service that kube-vip left (found on eth0)',
    ]);
    expect(noServiceAddresses.diff(about('metallb'))).toEqual([]);
  });
});

describe('NodeLocal DNSCache', () => {
  const nodeLocal = (settings: string, text = GOOD): string =>
    text.replace('network:', `network:\n  nodeLocalDNS: ${settings}`);

  test('listens at its own address and at that of cluster DNS, and asks CoreDNS for names of the cluster', async () => {
    const { inventory } = await load(nodeLocal('{}'));
    const objects = wantedObjects(inventory);
    const text = readFileSync(join(import.meta.dirname, '../golden/node-local-dns.Corefile'), 'utf8');
    expect(objects.findLast(({ kind }) => kind === 'ConfigMap')?.['data']).toEqual({ Corefile: text });
    expect(JSON.stringify(objects)).toContain('"-localip","169.254.20.10,10.96.0.10"');
    expect(roleImages({ inventory, host: cp1 })).toContain('registry.k8s.io/dns/k8s-dns-node-cache:1.26.8');
  });

  test('asks CoreDNS for all names where the inventory has zones of its own', async () => {
    const text = GOOD.replace('hosts:', 'dns: { blocks: { corp.example: "forward . 10.0.0.53" } }\nhosts:');
    const { inventory } = await load(nodeLocal('{}', text));
    expect(JSON.stringify(wantedObjects(inventory))).not.toContain('__PILLAR__UPSTREAM__SERVERS__');
  });

  test.each([
    ['{ address: "fd00::10" }', '', 'must be an address of IPv4, the primary family'],
    ['{ address: 10.0.0.21 }', '', '10.0.0.21 is in w1 10.0.0.21'],
    ['{}', 'kubeadm: { kubeProxy: { mode: ipvs } }\n', 'use network.kubeProxy: nftables or iptables'],
  ])('%s is refused (%s)', async (settings, more, message) => {
    const text = nodeLocal(settings, GOOD.replace('hosts:', `${more}hosts:`));
    expect(JSON.stringify(await problemsOf(text))).toContain(message);
  });
});

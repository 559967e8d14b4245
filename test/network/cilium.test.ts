import { describe, expect, test } from 'vitest';
import { listeningPorts } from '../../src/host/openings.value.ts';
import type { Helm } from '../../src/inventory/file/helm.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { networkManifests } from '../../src/network/plugins.step.ts';
import { networkPlugin } from '../../src/network/plugins.value.ts';
import { roleImages } from '../../src/runtime/images.step.ts';
import { cp1, inventoryOf, w1 } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { ciliumNetwork } from '../fakes/network.ts';
import { GOOD, load, problemsOf } from '../inventory/load.ts';

const having = (network: Inventory['network'], more: object = {}): Inventory => inventoryOf({ network, ...more });
const withSettings = (settings: string, more = ''): string =>
  GOOD.replace('network:', `network:\n  plugin: cilium\n${more}  cilium: ${settings}`);

const RENDERED = `---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: cilium, namespace: kube-system }
spec:
  template:
    spec:
      initContainers: [{ name: config, image: "quay.io/cilium/cilium:v1.19.5" }]
      containers: [{ name: cilium-agent, image: "quay.io/cilium/cilium:v1.19.5" }]
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: cilium-operator, namespace: kube-system }
spec: { template: { spec: { containers: [{ name: operator, image: "quay.io/cilium/operator-generic:v1.19.5" }] } } }
`;

/** The inventory, and what Helm was asked for. */
async function rendered(text: string) {
  const calls: { pulled?: readonly string[]; sha256?: string; args?: readonly string[]; values?: unknown } = {};
  const helm: Helm = {
    pull: (pulled, sha256) => {
      Object.assign(calls, { pulled, sha256 });
      return Promise.resolve(Buffer.from('a chart'));
    },
    render: (name, _chart, args, values) => {
      Object.assign(calls, { args: [name, ...args], values: JSON.parse(values) as unknown });
      return Promise.resolve(RENDERED);
    },
  };
  const { inventory } = await load(text, { 'cilium.tgz': 'a chart' }, { helm });
  return { inventory, ...calls };
}

describe('the chart of Cilium', () => {
  test('is that of its project with the checksum that kbuild knows, and its objects are those of the plugin', async () => {
    const { inventory, pulled, sha256, args } = await rendered(withSettings('{}'));
    expect(pulled).toEqual(['https://helm.cilium.io/cilium-1.19.5.tgz']);
    expect(sha256).toMatch(/^56b60445/);
    expect(args?.slice(0, 3)).toEqual(['cilium', '--namespace', 'kube-system']);
    expect(inventory.manifests).toEqual([]);
    const [manifest] = networkManifests(inventory);
    expect(manifest).toMatchObject({ title: 'Cilium 1.19.5 (vxlan)', compare: 'hash' });
    expect(manifest?.objects.map(({ kind }) => kind)).toEqual(['DaemonSet', 'Deployment']);
    expect(roleImages({ inventory, host: cp1 })).toEqual(
      expect.arrayContaining(['quay.io/cilium/cilium:v1.19.5', 'quay.io/cilium/operator-generic:v1.19.5']),
    );
  });

  test('gets what the inventory says, and the user’s values beside it', async () => {
    const { values } = await rendered(
      withSettings('{ values: { bpf: { masquerade: true }, operator: { replicas: 3 }, envoy: ~ } }'),
    );
    expect(values).toEqual({
      autoDirectNodeRoutes: false,
      bpf: { masquerade: true },
      cni: { exclusive: true },
      encryption: { enabled: false },
      envoy: null,
      hubble: { enabled: false, relay: { enabled: false, rollOutPods: true }, tls: { auto: { method: 'cronJob' } } },
      ipam: { mode: 'kubernetes', operator: { clusterPoolIPv4PodCIDRList: ['10.244.0.0/16'] } },
      k8sServiceHost: 'k8s.example.com',
      k8sServicePort: 6443,
      kubeProxyReplacement: false,
      operator: { replicas: 3, rollOutPods: true },
      rollOutCiliumPods: true,
      routingMode: 'tunnel',
      tunnelPort: 8472,
      tunnelProtocol: 'vxlan',
    });
  });

  test.each([
    ['{ routing: geneve }', '', { routingMode: 'tunnel', tunnelProtocol: 'geneve', tunnelPort: 6081 }],
    ['{ port: 8473 }', '', { tunnelPort: 8473 }],
    [
      '{ routing: native }',
      '',
      { routingMode: 'native', ipv4NativeRoutingCIDR: '10.244.0.0/16', autoDirectNodeRoutes: true },
    ],
    ['{ ipam: cluster-pool }', '', { ipam: { mode: 'cluster-pool' } }],
    ['{ wireguard: true }', '', { encryption: { enabled: true, type: 'wireguard' } }],
    ['{ hubble: true }', '', { hubble: { enabled: true, relay: { enabled: true } } }],
    ['{}', '  kubeProxy: none\n', { kubeProxyReplacement: true, kubeProxyReplacementHealthzBindAddr: '0.0.0.0:10256' }],
  ])('of %s%s has these values', async (settings, more, expected) => {
    expect((await rendered(withSettings(settings, more))).values).toMatchObject(expected);
  });

  test('leads agents to the virtual address where kbuild builds it', async () => {
    const text = withSettings('{}').replace(/ {2}endpoint:.*\n/, '');
    const { values } = await rendered(`${text}loadBalancer: { kind: keepalived, address: 10.0.0.5 }\n`);
    expect(values).toMatchObject({ k8sServiceHost: '10.0.0.5', k8sServicePort: 8443 });
  });

  test('may be a file, or a reference with its own checksum', async () => {
    expect((await rendered(withSettings('{ chart: cilium.tgz, version: 1.19.9 }'))).pulled).toBeUndefined();
    const hash = 'ab'.repeat(32);
    const oci = await rendered(withSettings(`{ chart: "oci://r.example.com/charts/cilium", sha256: ${hash} }`));
    expect(oci).toMatchObject({ pulled: ['oci://r.example.com/charts/cilium', '--version', '1.19.5'], sha256: hash });
  });
});

describe('validate refuses', () => {
  const NOTE = /is tested by its project with Kubernetes/;
  const found = async (settings: string, more = ''): Promise<readonly string[]> =>
    (await problemsOf(withSettings(settings, more))).filter((line) => !NOTE.test(line));

  test.each([
    ['{ version: 1.19.1 }', /network\.cilium\.sha256: is required.*knows that of .* for 1\.19\.5/],
    ['{ version: 1.17.2 }', /network\.cilium\.version: must be 1\.19 or newer/],
    ['{ chart: "oci://r.example.com/charts/cilium" }', /network\.cilium\.sha256: is required/],
    ['{ chart: "http://r.example.com/cilium.tgz" }', /network\.cilium\.chart: must be a \.tgz file/],
    ['{ routing: native, port: 8473 }', /network\.cilium\.port: is the port of a tunnel/],
    ['{ values: { kubeProxyReplacement: true } }', /kubeProxyReplacement: is set by kbuild: use network\.kubeProxy/],
    ['{ values: { k8sServiceHost: a } }', /k8sServiceHost: is set by kbuild: use kubernetes\.endpoint/],
    ['{ values: { cni: { exclusive: false } } }', /cni\.exclusive: is set by kbuild: Cilium is the only/],
    ['{ values: { cgroup: { hostRoot: /a } } }', /values\.cgroup: is set by kbuild/],
    ['{ values: { bpf: { autoMount: {} } } }', /bpf\.autoMount: is set by kbuild/],
    ['{ values: { ipam: { mode: eni } } }', /ipam\.mode: is set by kbuild: use network\.cilium\.ipam/],
  ])('%s', async (settings, message) => {
    expect(await found(settings)).toEqual([expect.stringMatching(message)]);
  });

  test('a reverse path filter, wherever it is set', async () => {
    const text = withSettings('{}').replace(
      'role: worker',
      "role: worker\n    sysctls: { net.ipv4.conf.all.rp_filter: '1' }",
    );
    expect((await problemsOf(text)).filter((line) => !NOTE.test(line))).toEqual([
      expect.stringContaining('hosts[1].sysctls["net.ipv4.conf.all.rp_filter"]: must be 0: Cilium sets it'),
    ]);
  });

  test('nothing of a good inventory, with and without kube-proxy', async () => {
    expect(await found('{}')).toEqual([]);
    expect(await found('{}', '  kubeProxy: none\n')).toEqual([]);
    expect(await found('{ values: { cni: { logFile: /a } } }')).toEqual([]);
  });

  test('settings of Cilium with another plugin', async () => {
    expect(await problemsOf(GOOD.replace('network:', 'network:\n  cilium: {}'))).toEqual([
      expect.stringContaining('network.cilium: is only for network.plugin cilium'),
    ]);
  });
});

describe('Cilium', () => {
  const opened = (network: Inventory['network'], more: object = {}): readonly string[] =>
    listeningPorts(having(network, more), w1)
      .filter(({ from }) => from !== 'itself')
      .map(({ port, protocol, program }) => `${String(port)}/${protocol} ${program}`)
      .filter((line) => !line.includes('kubelet'));

  test('listens at its tunnel, for encryption, for health, and the operator for metrics', () => {
    expect(opened(ciliumNetwork())).toEqual([
      '10256/tcp kube-proxy',
      '8472/udp cilium',
      '4240/tcp cilium-agent',
      '9963/tcp cilium-operator',
    ]);
    const all = ciliumNetwork({ routing: 'geneve', port: 6081, wireguard: true, hubble: true });
    expect(opened(all).map((line) => line.split(' ')[0])).toEqual(
      expect.arrayContaining(['6081/udp', '51871/udp', '4240/tcp', '4244/tcp', '9963/tcp']),
    );
    expect(opened(ciliumNetwork({ routing: 'native', port: undefined }))).not.toContain('8472/udp cilium');
  });

  test('answers for the health of kube-proxy in its place', () => {
    const { kubeadm } = inventoryOf({});
    const without = { kubeadm: { ...kubeadm, cluster: { ...kubeadm.cluster, proxy: { disabled: true } } } };
    expect(opened(ciliumNetwork({ replacesKubeProxy: true }), without)).toContain('10256/tcp cilium-agent');
    const inventory = having(ciliumNetwork({ replacesKubeProxy: true }), without);
    expect(roleImages({ inventory, host: w1 }).filter((name) => name.includes('kube-proxy'))).toEqual([]);
  });

  test('leaves files, interfaces, chains and programs', () => {
    const inventory = having(ciliumNetwork());
    const { files, chains } = networkPlugin(inventory);
    const { interfaces, programs } = networkPlugin(inventory).leaves(inventory);
    expect(files).toContain('/etc/cni/net.d/05-cilium.conflist');
    expect(chains).toEqual(['CILIUM_', 'OLD_CILIUM_']);
    expect(['cilium_host', 'eth0'].map((name) => interfaces.test(name))).toEqual([true, false]);
    expect(programs).toBe(true);
  });

  test('is not installed on Windows hosts', () => {
    const inventory = inventoryOf({ hosts: [cp1, windowsHost('win1')], network: ciliumNetwork() });
    expect(networkPlugin(inventory).windows).toBeUndefined();
  });
});

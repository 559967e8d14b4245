import { describe, expect, test } from 'vitest';
import { wantedObjects } from '../../src/commands/objects.phases.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { flannel } from '../../src/network/flannel.value.ts';
import { toYaml } from '../../src/shell/yaml.ts';
import { windowsCniConfig } from '../../src/windows/network/flannel-service.step.ts';
import { windowsNetworkManifest } from '../../src/windows/network/plugins.step.ts';
import { inventoryOf } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { calicoNetwork, flannelNetwork, mixedFlannel, withNetwork } from '../fakes/network.ts';

const images = {
  flannelImage: 'docker.io/sigwindowstools/flannel:v0.21.5-hostprocess',
  kubeProxyImage: 'docker.io/sigwindowstools/kube-proxy:v1.36.3-calico-hostprocess',
};
const calico = withNetwork(
  inventoryOf(),
  calicoNetwork({ windows: { mode: 'calico', services: false, kubeProxyImage: images.kubeProxyImage } }),
);
const overlay = withNetwork(inventoryOf(), mixedFlannel(images));
const hostGw = withNetwork(
  inventoryOf(),
  flannelNetwork({ backend: 'host-gw' }, { ...images, mode: 'host-gw', services: false }),
);
const host = { internalAddress: '10.0.0.31' };
const golden = (name: string): string => new URL(`../golden/windows/${name}`, import.meta.url).pathname;

describe('golden', () => {
  test('flannel and kube-proxy with overlay', async () => {
    await expect(toYaml(windowsNetworkManifest(overlay)!.objects)).toMatchFileSnapshot(golden('network-overlay.yaml'));
  });

  test('flannel and kube-proxy with host-gw', async () => {
    await expect(toYaml(windowsNetworkManifest(hostGw)!.objects)).toMatchFileSnapshot(golden('network-host-gw.yaml'));
  });

  test('kube-proxy with Calico (not run in the lab)', async () => {
    await expect(toYaml(windowsNetworkManifest(calico)!.objects)).toMatchFileSnapshot(golden('network-calico.yaml'));
  });

  test('CNI configuration with overlay', async () => {
    const text = `${JSON.stringify(windowsCniConfig(overlay, host), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot(golden('cni-overlay.json'));
  });

  test('CNI configuration with host-gw', async () => {
    const text = `${JSON.stringify(windowsCniConfig(hostGw, host), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot(golden('cni-host-gw.json'));
  });
});

interface Template {
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: {
        readonly nodeSelector: object;
        readonly hostNetwork: boolean;
        readonly securityContext: { readonly windowsOptions: object };
        readonly containers: readonly { readonly env: readonly { readonly name: string; readonly value?: string }[] }[];
      };
    };
  };
}

const daemons = (inventory: Inventory): readonly Template[] =>
  windowsNetworkManifest(inventory)!.objects.filter(({ kind }) => kind === 'DaemonSet') as unknown as Template[];

describe('required fields', () => {
  test.each([
    ['overlay', overlay],
    ['host-gw', hostGw],
    ['calico', calico],
  ])('%s: every pod is a process of Windows hosts only', (_, inventory) => {
    for (const { spec } of daemons(inventory)) {
      expect(spec.template.spec).toMatchObject({
        nodeSelector: { 'kubernetes.io/os': 'windows' },
        hostNetwork: true,
        securityContext: { windowsOptions: { hostProcess: true } },
      });
    }
  });

  test('flanneld connects to the API endpoint, not to a Service address, and gets its node name', () => {
    const env = daemons(overlay)[0]!.spec.template.spec.containers[0]!.env;
    expect(env.find(({ name }) => name === 'KUBERNETES_SERVICE_HOST')?.value).toBe('k8s.example');
    expect(env.map(({ name }) => name)).toContain('NODE_NAME');
  });

  test('kube-proxy gets its node name and the HNS network of the network plugin', () => {
    const networkOf = (inventory: Inventory) =>
      daemons(inventory)[1]!.spec.template.spec.containers[0]!.env.find(({ name }) => name === 'KUBE_NETWORK')?.value;
    expect([networkOf(overlay), networkOf(hostGw)]).toEqual(['flannel.4096', 'cbr0']);
    const [beside] = daemons(calico);
    expect(beside!.spec.template.spec.containers[0]!.env).toContainEqual({ name: 'KUBE_NETWORK', value: 'Calico' });
    expect(JSON.stringify(windowsNetworkManifest(overlay))).toContain('--hostname-override=$env:NODE_NAME');
  });

  const exceptionsOf = (inventory: typeof overlay): readonly string[] =>
    JSON.parse(/"Exceptions":(\[[^\]]*\])/.exec(JSON.stringify(windowsCniConfig(inventory, host)))![1]!) as string[];

  test('overlay: only pods and Services are excepted from NAT, because hosts have no way back to a pod', () => {
    expect(exceptionsOf(overlay)).toEqual(['10.244.0.0/16', '10.96.0.0/12']);
  });

  test('host-gw: the hosts themselves are excepted too, not the other machines of their subnet', () => {
    const hosts = [
      windowsHost('win1', { internalAddress: '10.0.0.31' }),
      windowsHost('win2', { internalAddress: '10.0.1.32' }),
    ];
    expect(exceptionsOf({ ...hostGw, hosts })).toEqual([
      '10.244.0.0/16',
      '10.96.0.0/12',
      '10.0.0.31/32',
      '10.0.1.32/32',
    ]);
  });

  test('a changed network configuration replaces the pods', () => {
    const hash = (inventory: Inventory) => daemons(inventory)[0]!.spec.template.metadata.annotations;
    const other = withNetwork(overlay, { ...overlay.network, flannel: { ...overlay.network.flannel, vni: 5000 } });
    expect(hash(other)).not.toEqual(hash(overlay));
  });
});

describe('as services', () => {
  const services = inventoryOf({
    hosts: [windowsHost('win1'), windowsHost('win2')],
    network: mixedFlannel({ ...images, services: true }),
  });

  test('creates no pods, and gives only Windows nodes the rights of flanneld and kube-proxy', async () => {
    const { objects } = windowsNetworkManifest(services)!;
    await expect(toYaml(objects)).toMatchFileSnapshot(golden('network-services.yaml'));
    expect(objects.map(({ kind }) => kind)).toEqual(['ClusterRoleBinding', 'ClusterRoleBinding']);
  });

  test('overlay and host-gw install different CNI plugins', () => {
    const names = (of: typeof overlay) => flannel.windows!.programs(of.network).map(({ path }) => path);
    expect(names(overlay)).toEqual([
      'C:\\k\\flanneld.exe',
      ...['flannel.exe', 'host-local.exe', 'sdnoverlay.exe'].map((file) => `C:\\opt\\cni\\bin\\${file}`),
    ]);
    expect(names(hostGw).at(-1)).toBe('C:\\opt\\cni\\bin\\win-bridge.exe');
  });
});

test('creates no objects without Windows hosts', () => {
  expect(windowsNetworkManifest(inventoryOf())).toBeUndefined();
  expect(wantedObjects(overlay).length - wantedObjects(inventoryOf()).length).toBe(4);
});

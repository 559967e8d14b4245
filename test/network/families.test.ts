import { expect, test } from 'vitest';
import { haproxyConfig } from '../../src/balancer/haproxy.step.ts';
import { keepalivedConfig } from '../../src/balancer/keepalived.step.ts';
import { kubeVipPod } from '../../src/balancer/kube-vip.step.ts';
import { newCluster } from '../../src/etcd/config.ts';
import { openings } from '../../src/host/openings.value.ts';
import { sysctlsOf } from '../../src/host/kernel.value.ts';
import { apiServerUrl } from '../../src/inventory/api-server.ts';
import { controlPlanes } from '../../src/inventory/hosts.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { initDocuments } from '../../src/kubeadm/config.ts';
import { calicoObjects } from '../../src/network/calico.step.ts';
import { flannelObjects } from '../../src/network/flannel.step.ts';
import type { InventoryWith } from '../../src/network/plugin.value.ts';
import { toYaml } from '../../src/shell/yaml.ts';
import { inventory as inventoryWith } from '../fakes/inventory.ts';
import { calicoNetwork, withNetwork } from '../fakes/network.ts';
import { target } from '../fakes/target.ts';
import { inventoryOf } from '../inventory/load.ts';

const DUAL = `name: dual
kubernetes: { version: "1.36.3" }
network:
  podSubnet: 10.244.0.0/16,fd00:10:244::/56
  serviceSubnet: 10.96.0.0/12,fd00:10:96::/112
proxy: { http: "http://proxy.example.com:3128" }
hosts:
  - { name: cp1, address: 10.0.0.11, internalAddress: "10.0.0.11,fd00::11", role: control-plane }
  - { name: w1, address: 10.0.0.21, internalAddress: "10.0.0.21,fd00::21", role: worker }
`;
const SIX = `name: six
kubernetes: { version: "1.36.3" }
network: { podSubnet: "fd00:10:244::/56", serviceSubnet: "fd00:10:96::/112" }
loadBalancer: { kind: keepalived, address: "fd00::c8" }
etcd: { topology: external }
hosts:
  - { name: cp1, address: "fd00::11", role: control-plane }
  - { name: cp2, address: "fd00::12", role: control-plane }
  - { name: etcd1, address: "fd00::41", role: etcd }
  - { name: w1, address: w1.example.com, internalAddress: "fd00::21", role: worker }
`;
const dual = await inventoryOf(DUAL);
const six = await inventoryOf(SIX);
const golden = (name: string): string => `../golden/${name}`;
const first = ({ hosts }: Inventory) => controlPlanes({ hosts } as Inventory)[0]!;
const flanneld = (inventory: Inventory): string =>
  toYaml(
    flannelObjects(inventory as InventoryWith<'flannel'>).filter(({ kind }) =>
      /ConfigMap|DaemonSet/.test(String(kind)),
    ),
  );

test('golden: kubeadm’s configuration and flannel’s objects with two families, and with IPv6 alone', async () => {
  await expect(toYaml(initDocuments(dual, first(dual)))).toMatchFileSnapshot(golden('dual-kubeadm-init.yaml'));
  await expect(toYaml(initDocuments(six, first(six)))).toMatchFileSnapshot(golden('ipv6-kubeadm-init.yaml'));
  await expect(flanneld(dual)).toMatchFileSnapshot(golden('dual-flannel.yaml'));
  await expect(flanneld(six)).toMatchFileSnapshot(golden('ipv6-flannel.yaml'));
});

test('golden: haproxy and keepalived with IPv6 alone', async () => {
  const interfaces = [{ name: 'eth0', addresses: ['10.0.0.11', 'fd00::11'], mac: '', mtu: 1500 }];
  const seen = target({ interfaces }, { inventory: six, host: 'cp1' });
  await expect(haproxyConfig(seen)).toMatchFileSnapshot(golden('ipv6-haproxy.cfg'));
  await expect(keepalivedConfig(seen)).toMatchFileSnapshot(golden('ipv6-keepalived.conf'));
});

test('URLs and endpoints have IPv6 in brackets, addresses have none', () => {
  expect([six.endpoint, apiServerUrl(six, first(six)), newCluster(six).members]).toEqual([
    '[fd00::c8]:8443',
    'https://[fd00::11]:6443',
    'etcd1=https://[fd00::41]:2380',
  ]);
  expect(six.etcd).toMatchObject({ endpoints: ['https://[fd00::41]:2379'] });
  expect(six.loadBalancer).toMatchObject({ address: 'fd00::c8', routerId: 0xc8 });
  const pod = kubeVipPod(
    { kind: 'kube-vip', address: 'fd00::c8', port: 6443, image: 'kube-vip:v1' },
    'eth0',
    'admin.conf',
  );
  expect(pod).toMatch(/vip_subnet"?\n\s+value: "128"/);
  expect(pod).toMatch(/ip: "?::1/);
});

test('what is reached without the proxy names both families', () => {
  expect(dual.proxy?.noProxy).toEqual(
    expect.arrayContaining([
      '127.0.0.1',
      '::1',
      '10.0.0.21',
      'fd00::21',
      '10.244.0.0/16',
      'fd00:10:244::/56',
      'fd00:10:96::/112',
    ]),
  );
});

test('hosts forward IPv6 where the cluster has it; what keeps a router’s route stands before that', () => {
  const host = { ...first(dual), sysctls: { 'net.ipv6.conf.eth0.accept_ra': '2', 'vm.swappiness': '1' } };
  expect(sysctlsOf(host).map(([name]) => name)).toEqual([
    'net.ipv6.conf.eth0.accept_ra',
    'net.bridge.bridge-nf-call-iptables',
    'net.bridge.bridge-nf-call-ip6tables',
    'net.ipv4.ip_forward',
    'net.ipv6.conf.all.forwarding',
    'net.ipv6.conf.default.forwarding',
    'vm.swappiness',
  ]);
  const [plain] = inventoryWith().hosts;
  expect(sysctlsOf(plain as never).map(([name]) => name)).not.toContain('net.ipv6.conf.all.forwarding');
});

test('firewalls are opened for the hosts and the pods of each family', () => {
  const all = openings(dual, first(dual));
  const sources = (port: number) => all.filter(({ ports }) => ports[0] === port).map(({ from }) => from);
  expect(sources(8472)).toEqual(['10.0.0.21', 'fd00::21']);
  expect(sources(6443)).toEqual(['10.0.0.21', 'fd00::21', '10.244.0.0/16', 'fd00:10:244::/56']);
  expect(all.filter(({ hook }) => hook === 'forward').map(({ from, to }) => `${from} ${to}`)).toEqual([
    '10.244.0.0/16 any',
    'any 10.244.0.0/16',
    'fd00:10:244::/56 any',
    'any fd00:10:244::/56',
  ]);
});

test('Calico has a pool and an address of each family', () => {
  const networks = { podSubnet: dual.network.podSubnet, serviceSubnet: dual.network.serviceSubnet };
  const [, installation] = calicoObjects(withNetwork(dual, { ...calicoNetwork(), ...networks }));
  expect(installation).toMatchObject({
    spec: {
      calicoNetwork: {
        ipPools: [
          { name: 'default-ipv4-ippool', cidr: '10.244.0.0/16', blockSize: 26 },
          { name: 'default-ipv6-ippool', cidr: 'fd00:10:244::/56', blockSize: 122 },
        ],
        nodeAddressAutodetectionV4: { kubernetes: 'NodeInternalIP' },
        nodeAddressAutodetectionV6: { kubernetes: 'NodeInternalIP' },
      },
    },
  });
});

test('network.mtu reaches the interfaces of pods with each plugin', async () => {
  const small = await inventoryOf(DUAL.replace('network:\n', 'network:\n  mtu: 1380\n'));
  expect(flanneld(small)).toMatch(/\\"mtu\\": 1380/);
  expect(flanneld(dual)).not.toContain('mtu');
  const [, installation] = calicoObjects(withNetwork(small, { ...calicoNetwork(), mtu: 1380 }));
  expect(installation).toMatchObject({ spec: { calicoNetwork: { mtu: 1380 } } });
});

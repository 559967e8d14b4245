/**
 * `network.plugin: calico` with a stand-in for Calico's operator: that kbuild applies it, waits for its pods, refuses what
 * Windows could not join, and takes away what Calico leaves. The tests build on each other, in this order.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leftovers } from '../../windows/host/machine.ts';
import type { SimulatedWindowsHost } from '../../windows/host/server.ts';
import { calicoCrds, calicoStandIn } from '../calico-operator.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { windowsEntry, windowsLabHost } from '../windows.ts';

const [cp, w1] = ['wicp1', 'wiw1'] as const;
const HOSTS = [cp, w1];
const calico = { plugin: 'calico', calico: { operator: ['crds.yaml', 'tigera-operator.yaml'] } };

let folder: string;
let file: string;
let inventory: lab.LabInventory;
let windows: SimulatedWindowsHost;
let before: object;

const up = (): Promise<Ran> => kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'));
const write = (changed: object): void => writeFileSync(file, stringify(changed, { aliasDuplicateObjects: false }));
const documents = (objects: readonly object[]): string => objects.map((object) => stringify(object)).join('---\n');
const withWindows = (): object => ({ ...inventory, hosts: [...inventory.hosts, windowsEntry(windows)] });
const remains = (): object => ({ ...leftovers(windows.machine), features: undefined });
const installation = async (): Promise<{ spec: Record<string, unknown> }> =>
  JSON.parse(await kubectl(cp, 'get installation default -o json')) as { spec: Record<string, unknown> };
const patch = (calicoNetwork: object): Promise<string> =>
  kubectl(cp, `patch installation default --type merge -p '${JSON.stringify({ spec: { calicoNetwork } })}'`);

beforeAll(async () => {
  windows = await windowsLabHost('wiwin1', { build: '26100', internalAddress: '10.77.0.210', network: 'Calico' });
  before = remains();
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  inventory = { ...(await lab.inventory(HOSTS)), name: 'windows-calico', network: calico };
  ({ folder, file } = inventoryFile(inventory));
  writeFileSync(join(folder, 'crds.yaml'), documents(calicoCrds));
  writeFileSync(join(folder, 'tigera-operator.yaml'), documents(calicoStandIn));
});

afterAll(async () => {
  await windows.close();
  await lab.down(HOSTS);
});

test('the operator, its kinds and its configuration are applied before kbuild waits for nodes', async () => {
  const { seconds } = ok(await up());
  console.log(`1 control plane and 1 worker with the stand-in of Calico: ${seconds.toFixed(1)} s`);
  expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true });
  expect((await installation()).spec).toMatchObject({
    calicoNetwork: { bgp: 'Disabled', ipPools: [{ encapsulation: 'VXLAN' }] },
  });
  expect(await kubectl(cp, 'get ipamconfig default -o jsonpath={.spec.strictAffinity}')).toBe('true');
  unchanged(await up());
});

test("a Windows host in the old cluster: Calico's configuration names it, and what the operator adds is complete", async () => {
  write(withWindows());
  const { seconds } = ok(await up());
  console.log(`a Windows host beside Calico: ${seconds.toFixed(1)} s`);
  expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, wiwin1: true });
  expect((await installation()).spec).toMatchObject({
    serviceCIDRs: ['10.96.0.0/12'],
    calicoNetwork: { windowsDataplane: 'HNS' },
  });
  expect(windows.machine.firewall.has('kbuild-vxlan')).toBe(true);
  unchanged(await up());
});

test('Calico that was made otherwise is refused, and so is another plugin', async () => {
  await patch({ bgp: 'Enabled', ipPools: [{ cidr: '10.244.0.0/16', encapsulation: 'IPIP' }] });
  const otherwise = await up();
  expect(otherwise.code, otherwise.stderr).toBe(7);
  expect(otherwise.stderr).toContain('its Calico has encapsulation IPIP, bgp Enabled, and Windows hosts need');
  write({ ...withWindows(), network: { plugin: 'flannel' } });
  const flannel = await up();
  expect(flannel.code, flannel.stderr).toBe(7);
  expect(flannel.stderr).toContain('network.plugin is flannel, the cluster was made with calico');
  write(withWindows());
  await patch({ bgp: 'Disabled', ipPools: [{ cidr: '10.244.0.0/16', encapsulation: 'VXLAN' }] });
  unchanged(await up());
});

test('reset takes away what Calico leaves on Linux hosts, and leaves the Windows host as it was, but for its features', async () => {
  await lab.inside(
    w1,
    `set -e
     ip link add vxlan.calico type dummy; ip link add cali0123456789a type dummy
     ip route add blackhole 10.244.77.64/26 proto 80
     mkdir -p /var/lib/calico /var/log/calico; touch /etc/cni/net.d/calico-kubeconfig
     iptables -N cali-FORWARD; iptables -A FORWARD -m comment --comment cali:wUHhoiAYhphO9Mso -j cali-FORWARD
     iptables -A FORWARD -m comment --comment cali:S93hcgKJrXEqnTfs -m mark --mark 0x10000/0x10000 -j ACCEPT`,
  );
  const { seconds } = ok(await kbuild('reset', file, '--yes-destroy', 'windows-calico'));
  console.log(`reset of a mixed cluster with Calico: ${seconds.toFixed(1)} s`);
  const left = await lab.inside(
    w1,
    `ip link; ip route; iptables-save
     ls -d /var/lib/calico /var/log/calico /run/calico /etc/cni/net.d/10-calico.conflist /etc/cni/net.d/calico-kubeconfig 2>/dev/null`,
  );
  expect(left.stdout).not.toMatch(/cali|blackhole/);
  expect(remains()).toEqual(before);
  expect(ok(await kbuild('reset', file, '--yes-destroy', 'windows-calico')).stdout).toContain('nothing to do');
});

import { expect, test } from 'vitest';
import { isVirtualInterface } from '../../src/host/identity.check.ts';

test('interfaces of bridges, tunnels and pods are virtual', () => {
  const names =
    'lo docker0 br-5d1e veth12 virbr0 lxcbr0 lxc_health podman1 cni0 flannel.1 cali123 cilium_host vxlan.calico vxlan-v6.calico tunl0 tap0 kube-ipvs0 nodelocaldns'.split(
      ' ',
    );
  expect(names.filter((name) => !isVirtualInterface(name))).toEqual([]);
});

test("interfaces that connect hosts are not virtual, an operator's own VXLAN included", () => {
  const names = ['eth0', 'ens3', 'enp1s0', 'bond0', 'vlan10', 'br0', 'vxlan100', 'wg0', 'dummy0'];
  expect(names.filter(isVirtualInterface)).toEqual([]);
});

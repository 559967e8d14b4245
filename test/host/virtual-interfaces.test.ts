import { describe, expect, test } from 'vitest';
import { checks } from '../../src/commands/every.checks.ts';
import { runChecks } from '../../src/engine/check.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { isVirtualInterface } from '../../src/host/identity.check.ts';
import { fleet } from '../fakes/fleet.ts';
import { inventory } from '../fakes/inventory.ts';

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

type LinuxInterface = LinuxFacts['interfaces'][number];

describe('the remedy of an address that is not on the host', () => {
  const remedies = (...interfaces: readonly LinuxInterface[]) =>
    runChecks(checks, { inventory: inventory(), fleet: fleet({ facts: { w1: { interfaces } } }) })
      .filter(({ check, host }) => check === 'address-on-host' && host === 'w1')
      .map(({ remedy }) => remedy);
  const link = (name: string, ...addresses: readonly string[]): LinuxInterface => ({
    ...{ name, addresses, mac: '02:fc:00:00:00:09', mtu: 1500 },
  });

  test('offers addresses of the same family that other hosts may reach', () => {
    const lasting = {
      ...link('eth1', '10.9.9.9', '10.9.9.10', '169.254.3.4', 'fd00::9'),
      unsteady: { '10.9.9.10': 'deprecated' },
    };
    expect(remedies(link('lo', '127.0.0.1'), link('docker0', '172.17.0.1'), lasting)).toEqual([
      'set internalAddress to one that is: 10.9.9.9',
    ]);
  });

  test('says so when there is none', () => {
    expect(remedies(link('lo', '127.0.0.1', '::1'), link('eth0', 'fd00::9'))).toEqual([
      'give the host an IPv4 address that other hosts reach, and set internalAddress to it',
    ]);
  });
});

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { reset } from '../../src/commands/remove.phases.ts';
import type { Phase } from '../../src/engine/step.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { flannel } from '../../src/network/flannel.value.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { flannelNetwork, mixedFlannel } from '../fakes/network.ts';
import { started, up } from '../windows/fleets.ts';
import { releases } from '../windows/host/internet.ts';
import { filesOf, leftovers } from '../windows/host/machine.ts';
import { networkServices } from '../windows/host/network-services.ts';
import type { SimulatedFleet, SimulatedOptions } from '../windows/simulated-fleet.ts';

const SUBNET = '10.244.3.0/24';
const overlay = mixedFlannel({ services: true });
const routed = flannelNetwork(
  { backend: 'host-gw' },
  { mode: 'host-gw', services: true, flannelImage: '', kubeProxyImage: '' },
);

/** A host whose network is services, run by nssm; its programs come from a server of the site. */
async function withServices(options: SimulatedOptions = {}, network = overlay) {
  const site = 'https://files.example';
  const names = ['nssm.exe', ...flannel.windows!.programs(network).map(({ file }) => file)];
  const sumOf = (name: string): string =>
    createHash('sha256')
      .update(releases(`${site}/${name}`)!)
      .digest('hex');
  const downloads = {
    ...windowsHost('win1').windows.downloads,
    nssm: site,
    network: site,
    sha256: Object.fromEntries(names.map((name) => [name, sumOf(name)])),
  };
  return started({
    programs: networkServices({ subnet: SUBNET }),
    windows: { serviceManager: 'nssm', downloads },
    inventory: { network },
    ...options,
  });
}

const down = (inventory: Inventory): readonly Phase[] =>
  reset(inventory, { hosts: ['win1'] }).filter(({ kind }) => kind === 'windows');

async function done(fleet: SimulatedFleet): Promise<readonly string[]> {
  const { planned, outcome } = await fleet.run(up);
  expect([...outcome.failures.values()].map(({ message }) => message)).toEqual([]);
  expect((await fleet.run(up)).planned).toEqual([]);
  return planned;
}

const flagsOf = (fleet: SimulatedFleet, service: string): readonly string[] =>
  fleet.simulated.machine.services.get(service)!.parameters['AppParameters']!.split(' ');

describe('flanneld and kube-proxy as services', () => {
  test('are installed, registered and started, and a second run changes nothing', async () => {
    const fleet = await withServices();
    const planned = await done(fleet);
    expect(planned.filter((one) => /flannel|proxy|nssm|host-local|overlay|169/.test(one))).toMatchInlineSnapshot(`
      [
        "let TCP 10256 in for health of kube-proxy (found none)",
        "install nssm (found none)",
        "make C:\\var\\log\\kubelet, C:\\var\\log\\flanneld, C:\\var\\log\\kube-proxy",
        "install kube-proxy 1.36.3 (found none)",
        "install flanneld.exe (found none)",
        "install flannel.exe (found none)",
        "install host-local.exe (found none)",
        "install sdnoverlay.exe (found none)",
        "write C:\\etc\\cni\\net.d\\10-flannel.conf (found none)",
        "write C:\\etc\\kube-flannel\\net-conf.json (found none)",
        "register service flanneld (found none)",
        "start flanneld (found none)",
        "wait for flanneld to connect pods, and start it again if it has to be (found no HNS network flannel.4096, no C:\\run\\flannel\\subnet.env; its log is in C:\\var\\log\\flanneld)",
        "add a route to 169.254.169.254, where clouds answer (found none)",
        "reserve an address for kube-proxy in flannel.4096 (found none)",
        "register service kube-proxy (found none)",
        "start kube-proxy (found none)",
      ]
    `);
    expect(flagsOf(fleet, 'flanneld')).toEqual([
      '--kube-subnet-mgr',
      '--kubeconfig-file=C:\\etc\\kubernetes\\kubelet.conf',
      '--net-config-path=C:\\etc\\kube-flannel\\net-conf.json',
      '--iface=127.0.0.1',
    ]);
    expect(flagsOf(fleet, 'kube-proxy')).toEqual([
      '--proxy-mode=kernelspace',
      '--kubeconfig=C:\\etc\\kubernetes\\kubelet.conf',
      '--hostname-override=win1',
      '--cluster-cidr=10.244.0.0/16',
      '--network-name=flannel.4096',
      '--enable-dsr=true',
      '--source-vip=10.244.3.2',
      '--v=2',
    ]);
    expect(fleet.simulated.machine.services.get('flanneld')).toMatchObject({
      path: 'C:\\k\\nssm.exe',
      state: 'Running',
      environment: ['NODE_NAME=win1'],
    });
  });

  test('go with the rest when the host is reset', async () => {
    const fleet = await withServices();
    const before = leftovers(fleet.simulated.machine);
    await done(fleet);
    const { planned, outcome } = await fleet.run(down);
    expect([...outcome.failures.values()]).toEqual([]);
    expect(planned).toContain(
      'remove the services kube-proxy, flanneld, kubelet, containerd; images stay in C:\\ProgramData\\containerd, and so do Windows features',
    );
    const same = { features: [], tasks: [] };
    expect({ ...leftovers(fleet.simulated.machine), ...same }).toEqual({ ...before, ...same });
  });

  test('a metadata route that kbuild did not create stays', async () => {
    const fleet = await withServices();
    await done(fleet);
    const { routes } = fleet.simulated.machine;
    expect([...routes]).toEqual(['169.254.169.254/32']);
    // As if the cloud's own agent had added it, and kbuild never.
    filesOf(fleet.simulated.machine).removeTree('C:\\ProgramData\\kbuild\\metadata-route');
    const { planned } = await fleet.run(down);
    expect(planned.join()).not.toContain('169.254.169.254');
    expect([...routes]).toEqual(['169.254.169.254/32']);
  });

  test('by routes, kube-proxy needs no address of its own', async () => {
    const fleet = await withServices({}, routed);
    await done(fleet);
    expect(flagsOf(fleet, 'kube-proxy').filter((flag) => /network-name|source-vip/.test(flag))).toEqual([
      '--network-name=cbr0',
    ]);
    expect(filesOf(fleet.simulated.machine).exists('C:\\sourcevip')).toBe(false);
  });

  test('flanneld that waits for its network is started again, once', async () => {
    const fleet = await withServices({ programs: networkServices({ subnet: SUBNET, starts: 2 }) });
    await done(fleet);
    expect(fleet.simulated.began.filter((name) => name === 'windows/wait-hns-network.ps1')).toHaveLength(2);
  });

  test('flanneld that never gets it is named, with where its log lies', async () => {
    const fleet = await withServices({ programs: networkServices({ subnet: SUBNET, starts: 99 }) });
    const { outcome } = await fleet.run(up);
    expect(outcome.failures.get('win1')?.message).toMatch(
      /found no HNS network flannel\.4096, no C:\\run\\flannel\\subnet\.env; its log is in C:\\var\\log\\flanneld/,
    );
  });

  test('an address that was reserved in another network of the node is reserved anew, and kube-proxy follows', async () => {
    const fleet = await withServices();
    await done(fleet);
    filesOf(fleet.simulated.machine).put(
      'C:\\sourcevip\\sourceVip.json',
      '{"subnet":"10.244.9.0/24","address":"10.244.9.2"}',
    );
    expect((await fleet.run(up)).planned).toEqual([
      'reserve an address for kube-proxy in flannel.4096 (found one of 10.244.9.0/24)',
      'change service kube-proxy (found its parameters)',
      'restart kube-proxy (its registration changes)',
    ]);
    await done(fleet);
    expect(flagsOf(fleet, 'kube-proxy')).toContain('--source-vip=10.244.3.2');
  });

  test('a flanneld.exe that is another one is replaced; one with another checksum never comes there', async () => {
    const fleet = await withServices();
    await done(fleet);
    const files = filesOf(fleet.simulated.machine);
    const right = files.text('C:\\k\\flanneld.exe');
    files.put('C:\\k\\flanneld.exe', 'MZ another\nEND');
    expect(await done(fleet)).toEqual(['install flanneld.exe (found another)']);
    expect(fleet.simulated.machine.services.get('flanneld')?.state).toBe('Running');
    expect(files.text('C:\\k\\flanneld.exe')).toBe(right);
    const bad = await withServices({
      world: { internet: (url: string) => (url.endsWith('flanneld.exe') ? Buffer.from('MZ bad') : releases(url)) },
    });
    const { outcome } = await bad.run(up);
    expect(outcome.failures.get('win1')?.message).toMatch(/checksum mismatch: .*flanneld\.exe has SHA-256/);
    expect(filesOf(bad.simulated.machine).exists('C:\\k\\flanneld.exe')).toBe(false);
  });
});

/** `kbuild init` for hosts with IPv6: which addresses it finds, which families it proposes, and that the inventory is valid. */
import { describe, expect, test } from 'vitest';
import { type Discovery, withDiscovery } from '../../src/commands/init-discovery.ts';
import { addressesSoFar, parseFamilies, proposedFamilies } from '../../src/commands/init-families.ts';
import { type Discovered, freeSubnets, linksOf, sharedNetworks } from '../../src/commands/init-networks.ts';
import { type Answers, skeleton } from '../../src/commands/init-skeleton.ts';
import { interfaces, routes } from '../../src/host/network.facts.ts';
import type { Family } from '../../src/inventory/addresses.ts';
import { inventoryOf, problemsOf } from '../inventory/load.ts';

/** A host as its own programs show it. */
function host(name: string, n: number, { v4 = true, v6 = true } = {}): Discovered {
  const shown = interfaces.parse(
    [
      '1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 state UNKNOWN',
      '    inet6 ::1/128 scope host',
      '2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 state UP',
      ...(v4 ? [`    inet 10.0.0.${String(n)}/24 scope global eth0`] : []),
      ...(v6
        ? [
            `    inet6 2001:db8:1::${String(n)}/128 scope global dynamic noprefixroute`,
            '    inet6 2001:db8:1::aaaa/64 scope global temporary dynamic',
            '    inet6 2001:db8:1::bbbb/64 scope global deprecated dynamic',
          ]
        : []),
      '    inet6 fe80::1/64 scope link',
      '3: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 state UP',
      '    inet6 fd00:10:244::1/64 scope global',
    ].join('\n'),
    { middleMs: 0 },
  );
  const table = [
    'default via 10.0.0.254 dev eth0',
    '10.0.0.0/24 dev eth0 proto kernel scope link',
    `2001:db8:1::${String(n)} dev eth0 proto kernel metric 256`,
    '2001:db8:1::/64 dev eth0 proto ra metric 1024',
    'fd00:10:96::/48 via fe80::2 dev eth0',
    'fe80::/64 dev eth0 proto kernel',
    '::/0 via fe80::2 dev eth0 proto ra accept_ra 2',
  ];
  const { table: found } = routes([], true).parse(`${table.join('\n')}\n---\n`, { middleMs: 0 });
  return { name, address: `10.0.0.${String(n)}`, system: '', ...linksOf(shown, found) };
}

const answers = (families: readonly Family[], more: Partial<Answers> = {}): Answers => ({
  name: 'demo',
  version: '1.36.3',
  families,
  hosts: [
    { name: 'cp1', address: 'cp1.example.com', role: 'control-plane' },
    { name: 'w1', address: '10.0.0.2', role: 'worker' },
  ],
  ...more,
});
const discovery: Discovery = {
  found: new Map([
    ['cp1', host('cp1', 1)],
    ['w1', host('w1', 2)],
  ]),
  failed: new Map(),
};
const NETWORKS: Readonly<Record<Family, string>> = { IPv4: '10.0.0.0/24', IPv6: '2001:db8:1::/64' };
const written = (families: readonly Family[]): string =>
  skeleton(
    withDiscovery(
      answers(families),
      discovery,
      families.map((family) => NETWORKS[family]),
    ),
  );

describe('addresses of a host', () => {
  test('are those of both families that it keeps, each with the network of all hosts there', () => {
    expect(host('cp1', 1).links).toEqual([
      { device: 'eth0', address: '10.0.0.1', network: '10.0.0.0/24', isDefault: true },
      { device: 'eth0', address: '2001:db8:1::1', network: '2001:db8:1::/64', isDefault: true },
    ]);
    expect(sharedNetworks([host('cp1', 1), host('w1', 2)], 'IPv6')).toEqual(['2001:db8:1::/64']);
  });

  test('before SSH has told them are such that no host has', () => {
    expect(addressesSoFar({ name: 'a', address: 'a.example.com', role: 'worker' }, 0)).toBe('198.18.0.1,2001:2::1');
    expect(addressesSoFar({ name: 'a', address: 'fd00::5', role: 'worker' }, 1)).toBe('198.18.0.2,fd00::5');
  });
});

describe('the families of a cluster', () => {
  test('are IPv4 where hosts have it, and IPv6 where they have that alone', () => {
    expect(proposedFamilies([host('a', 1), host('b', 2)])).toEqual(['IPv4']);
    expect(proposedFamilies([host('a', 1), host('b', 2, { v6: false })])).toEqual(['IPv4']);
    expect(proposedFamilies([host('a', 1, { v4: false }), host('b', 2)])).toEqual(['IPv6']);
    expect(proposedFamilies([])).toEqual(['IPv4']);
  });

  test('are read with the primary one first', () => {
    expect(parseFamilies('IPv6, ipv4')).toEqual(['IPv6', 'IPv4']);
    expect(() => parseFamilies('ipv5')).toThrow('"ipv5" are no families of addresses');
  });
});

describe('subnets', () => {
  test('have a part of each family, none of which overlaps with a route of a host', () => {
    expect(freeSubnets([], ['IPv6', 'IPv4'])).toEqual({
      podSubnet: 'fd00:10:244::/56,10.244.0.0/16',
      serviceSubnet: 'fd00:10:96::/112,10.96.0.0/12',
    });
    expect(freeSubnets(host('a', 1).routes, ['IPv6'])).toEqual({
      podSubnet: 'fd00:10:244::/56',
      serviceSubnet: 'fd00:172:21::/112',
    });
    expect(freeSubnets(['::/0'], ['IPv4', 'IPv6'])).toBeUndefined();
  });
});

describe('the inventory', () => {
  test.each<[readonly Family[], string, string | undefined]>([
    [['IPv4'], '10.0.0.1', undefined],
    [['IPv6'], '2001:db8:1::1', undefined],
    [['IPv4', 'IPv6'], '10.0.0.1', '2001:db8:1::1'],
    [['IPv6', 'IPv4'], '2001:db8:1::1', '10.0.0.1'],
  ])('of %j is valid, and Kubernetes listens at these addresses', async (families, first, second) => {
    const inventory = await inventoryOf(written(families));
    expect(inventory.hosts[0]).toMatchObject({ internalAddress: first });
    expect((inventory.hosts[0] as { secondAddress?: string }).secondAddress).toBe(second);
    const subnets = [inventory.network.podSubnet, inventory.network.serviceSubnet];
    for (const subnet of subnets)
      expect(subnet.split(',').map((part) => part.includes(':'))).toEqual(families.map((family) => family === 'IPv6'));
  });

  test('has subnets of its families where a route of a host covers all of them', () => {
    const routes = ['fc00::/7', ...host('cp1', 1).routes];
    const found = new Map([['cp1', { ...host('cp1', 1), routes }]]);
    const text = skeleton(withDiscovery(answers(['IPv6']), { found, failed: new Map() }, [NETWORKS.IPv6]));
    expect(text).toContain('podSubnet: fd00:10:244::/56, serviceSubnet: fd00:10:96::/112');
  });

  test('of three control planes with IPv6 alone is valid from their addresses alone', async () => {
    const hosts = ['a', 'b', 'c'].map((name, i) => ({
      name,
      address: `10.0.0.${String(i + 1)}`,
      internalAddress: `fd00::${String(i + 1)}`,
      role: 'control-plane' as const,
    }));
    const text = skeleton(withDiscovery(answers(['IPv6'], { hosts }), { found: new Map(), failed: new Map() }, []));
    expect(await problemsOf(text)).toEqual([]);
  });
});

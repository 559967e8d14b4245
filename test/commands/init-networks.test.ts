import { describe, expect, test } from 'vitest';
import {
  clusterLink,
  DEFAULT_SUBNETS,
  type Discovered,
  freeSubnets,
  linksOf,
  sharedNetworks,
} from '../../src/commands/init-networks.ts';
import { interfaces } from '../../src/host/network.facts.ts';
import { overlap } from '../../src/inventory/addresses.ts';

const TABLE = [
  { destination: 'default', device: 'eth0' },
  { destination: '203.0.113.0/24', device: 'eth0' },
  { destination: '10.0.0.0/24', device: 'eth1' },
  { destination: '172.17.0.0/16', device: 'docker0' },
  { destination: '10.50.0.9', device: 'eth1' },
];

const host = (n: number, sshAddress = `203.0.113.${String(n)}`): Discovered => ({
  name: `h${String(n)}`,
  address: sshAddress,
  system: '',
  ...linksOf(
    [
      { name: 'lo', addresses: ['127.0.0.1', '::1'] },
      { name: 'eth0', addresses: [`203.0.113.${String(n)}`, 'fe80::1'] },
      { name: 'eth1', addresses: [`10.0.0.${String(n)}`] },
      { name: 'docker0', addresses: ['172.17.0.1'] },
    ],
    TABLE,
  ),
});

describe('the network of the cluster', () => {
  test('links are IPv4 addresses of the machine itself; routes are what it reaches beside the default route', () => {
    expect(host(1)).toMatchObject({
      links: [
        { device: 'eth0', address: '203.0.113.1', network: '203.0.113.0/24', isDefault: true },
        { device: 'eth1', address: '10.0.0.1', network: '10.0.0.0/24' },
      ],
      routes: ['203.0.113.0/24', '10.0.0.0/24', '10.50.0.9/32'],
    });
  });

  test('an address without a route of its network is a network of one address', () => {
    expect(linksOf([{ name: 'ens4', addresses: ['10.128.0.2'] }], []).links).toEqual([
      { device: 'ens4', address: '10.128.0.2', network: '10.128.0.2/32' },
    ]);
  });

  test('a private network that all hosts share is proposed before a public one', () => {
    expect(sharedNetworks([host(1), host(2)], 'IPv4')).toEqual(['10.0.0.0/24', '203.0.113.0/24']);
    expect(clusterLink(host(1), '10.0.0.0/24', 'IPv4')?.address).toBe('10.0.0.1');
    expect(sharedNetworks([], 'IPv4')).toEqual([]);
  });

  test('of two private networks, the one of the default route is proposed first', () => {
    const table = [
      { destination: 'default', device: 'eth1' },
      { destination: '10.0.0.0/24', device: 'eth0' },
      { destination: '10.1.0.0/24', device: 'eth1' },
    ];
    const two = [1, 2].map((n): Discovered => {
      const links = ['eth0', 'eth1'].map((name, i) => ({ name, addresses: [`10.${String(i)}.0.${String(n)}`] }));
      return { name: `h${String(n)}`, address: `10.0.0.${String(n)}`, system: '', ...linksOf(links, table) };
    });
    expect(two[0]!.links.map(({ device }) => device)).toEqual(['eth1', 'eth0']);
    expect(sharedNetworks(two, 'IPv4')).toEqual(['10.1.0.0/24', '10.0.0.0/24']);
    expect(clusterLink({ ...two[0]!, address: 'h1.example.com' }, undefined, 'IPv4')?.address).toBe('10.1.0.1');
  });

  test('no address of an interface without carrier is proposed', () => {
    const shown = interfaces.parse(
      [
        '2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000',
        '    inet 10.0.0.1/24 brd 10.0.0.255 scope global eth0',
        '3: usb0: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc fq state DOWN group default qlen 1000',
        '    inet 192.168.42.1/24 brd 192.168.42.255 scope global usb0',
        '4: eth1: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN group default qlen 1000',
        '    inet 10.9.0.1/24 scope global eth1',
      ].join('\n'),
      { middleMs: 0 },
    );
    expect(linksOf(shown, []).links.map(({ address }) => address)).toEqual(['10.0.0.1']);
  });

  test('where no network is shared, each host has the address at which SSH reached it', () => {
    expect(clusterLink(host(1), undefined, 'IPv4')?.address).toBe('203.0.113.1');
    expect(clusterLink(host(1, '192.0.2.77'), undefined, 'IPv4')?.address).toBe('10.0.0.1');
    expect(clusterLink({ ...host(1), links: [] }, undefined, 'IPv4')).toBeUndefined();
  });
});

describe('subnets', () => {
  test('the defaults where no network of a host overlaps with them', () => {
    expect(freeSubnets(['10.0.0.0/24', '192.168.1.0/24'], ['IPv4'])).toEqual({});
  });

  test('others where one does', () => {
    expect(freeSubnets(['10.244.3.7/32'], ['IPv4'])).toEqual({ podSubnet: '172.20.0.0/16' });
    expect(freeSubnets(['10.0.0.0/8'], ['IPv4'])).toEqual({
      podSubnet: '172.20.0.0/16',
      serviceSubnet: '172.21.0.0/16',
    });
    expect(freeSubnets(['10.0.0.0/8', '172.16.0.0/12'], ['IPv4'])).toEqual({
      podSubnet: '192.168.0.0/17',
      serviceSubnet: '192.168.128.0/17',
    });
    expect(freeSubnets(['0.0.0.0/0'], ['IPv4'])).toBeUndefined();
  });

  test('no proposal overlaps with another one or with what it avoids', () => {
    for (const used of [['10.0.0.0/8'], ['172.16.0.0/12'], ['192.168.0.0/16', '10.0.0.0/8'], []]) {
      const { podSubnet, serviceSubnet } = { ...DEFAULT_SUBNETS, ...freeSubnets(used, ['IPv4']) };
      expect(overlap(podSubnet, serviceSubnet)).toBe(false);
      expect(used.some((one) => overlap(one, podSubnet) || overlap(one, serviceSubnet))).toBe(false);
    }
  });
});

import { describe, expect, test } from 'vitest';
import { inBothFamilies, portMatrix, type Way } from '../../src/host/ports.survey.ts';
import type { Surveyor } from '../../src/host/surveyor.survey.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { linuxHost } from '../fakes/inventory.ts';

const cp1 = linuxHost('cp1', { address: '10.0.0.11', secondAddress: 'fd00::11' });
const w1 = linuxHost('w1', { address: '10.0.0.21', secondAddress: 'fd00::21' });
const hosts = [cp1, w1];
const way = (to: LinuxHost, from: LinuxHost, more: Partial<Way> = {}): Way => ({
  ...{ to, from: [from], port: 8472, protocol: 'udp', program: 'pods (VXLAN)', free: true },
  ...more,
});

/** The lines of a list that a script gets as this parameter. */
const given = (script: string, name: string): readonly string[] => {
  const [, quoted, plain] = new RegExp(`^${name}=(?:'([^']*)'|(\\S*))$`, 'm').exec(script)!;
  return (quoted ?? plain!).split('\n').filter(Boolean);
};

/** Hosts between which datagrams travel, but for those that are lost. */
function network(isLost: (address: string, port: string, size: 'small' | 'large') => boolean = () => false) {
  const heard: string[] = [];
  const listening: string[] = [];
  const on: Surveyor = ({ name }) => ({
    hold: ({ script }) => {
      listening.push(...given(script, 'UDP'));
      return Promise.resolve({
        first: `/run/kbuild/survey-heard.${name}`,
        ended: new Promise<number>(() => undefined),
        isDoubtful: () => false,
        trust: () => undefined,
        release: () => Promise.resolve(),
      });
    },
    run: ({ script, title }) => {
      if (title === 'host/survey-heard.sh') return Promise.resolve(heard.join('\n'));
      const lines = given(script, 'TARGETS').map((line) => line.split(' ') as [string, string, string, string]);
      return Promise.resolve(
        lines
          .map(([protocol, address, port, sender]) => {
            if (protocol === 'tcp') return `${address} ${port} 0 `;
            for (const size of ['small', 'large'] as const)
              if (!isLost(address, port, size)) heard.push(`${size} ${sender}`);
            return `mtu ${address} 1500 `;
          })
          .join('\n'),
      );
    },
  });
  return { on, listening };
}

describe('ways of a cluster with two families', () => {
  const both = inBothFamilies(way(w1, cp1));

  test('are tried at the second address too, by UDP alone, and where both hosts have one', () => {
    expect(both.map(({ address, program }) => [address, program])).toEqual([
      [undefined, 'pods (VXLAN)'],
      ['fd00::21', 'pods (VXLAN), IPv6'],
    ]);
    expect(inBothFamilies(way(w1, cp1, { protocol: 'tcp' }))).toHaveLength(1);
    expect(inBothFamilies(way(w1, linuxHost('old')))).toHaveLength(1);
    expect(inBothFamilies(way(linuxHost('old'), cp1))).toHaveLength(1);
  });

  test('are free where datagrams of each size arrive at each address', async () => {
    const { on, listening } = network();
    const found = await portMatrix(on, hosts, both);
    expect(listening).toEqual(['10.0.0.21:8472', '[fd00::21]:8472']);
    expect(found).toMatchObject({ tried: 2, blocked: [], narrow: [], failed: [] });
  });

  test('that are blocked for one family are told with it', async () => {
    const { on } = network((address) => address === 'fd00::21');
    const { blocked } = await portMatrix(on, hosts, both);
    expect(blocked.map((one) => [one.way.program, one.how])).toEqual([['pods (VXLAN), IPv6', 'nothing came through']]);
  });

  test('that are too narrow for one family are told with its address', async () => {
    const { on } = network((address, _, size) => address === 'fd00::21' && size === 'large');
    const { blocked, narrow } = await portMatrix(on, hosts, both);
    expect([blocked, narrow]).toEqual([[], [{ from: cp1, to: w1, address: 'fd00::21', mtu: 1500 }]]);
  });
});

test('of two ports of a host each is heard by itself: an open one does not speak for a closed one', async () => {
  const ways = [way(w1, cp1), way(w1, cp1, { port: 51820, program: 'WireGuard' })];
  const { on, listening } = network((_, port) => port === '51820');
  const { blocked } = await portMatrix(on, hosts, ways);
  expect(listening).toEqual(['10.0.0.21:8472', '10.0.0.21:51820']);
  expect(blocked.map((one) => one.way.program)).toEqual(['WireGuard']);
});

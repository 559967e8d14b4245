import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Bastion } from '../../src/inventory/host-settings.ts';
import { bastions, type Path } from '../../src/ssh/bastions.ts';

const hop = (how: Partial<Bastion> = {}): Bastion => ({
  address: '10.0.0.1',
  user: 'jump',
  port: 22,
  knownHostsFiles: ['/known'],
  ...how,
});

function dialled() {
  const connections: string[] = [];
  const through = bastions((endpoint) => {
    connections.push(endpoint.address);
    return Promise.resolve({
      forward: () => Promise.resolve(new PassThrough()),
      isLost: () => false,
      end: () => undefined,
    });
  });
  return { connections, through };
}

test('at most eight handshakes are under way through a bastion; who is through makes room', async () => {
  const { connections, through } = dialled();
  const paths: Path[] = [];
  for (let i = 0; i < 20; i++)
    void through.path(`w${String(i)}`, [hop()], `10.0.1.${String(i)}`, 22).then((path) => paths.push(path));
  await turn();
  expect(paths).toHaveLength(8);
  paths[0]!.settled();
  paths[0]!.settled();
  await turn();
  expect(paths).toHaveLength(9);
  for (let done = 1; done < 20; done++) {
    paths[done]!.settled();
    await turn();
  }
  expect(paths).toHaveLength(20);
  expect(connections).toEqual(['10.0.0.1']);
});

test('a host that trusts the bastion by other keys gets a connection of its own', async () => {
  const { connections, through } = dialled();
  const ways: readonly Bastion[] = [
    hop(),
    hop({ knownHostsFiles: ['/other'] }),
    hop({ hostKeyAlias: 'jump' }),
    hop({ hostKeys: ['SHA256:a'] }),
    hop({ hostKeys: ['SHA256:b'] }),
    hop({ user: 'root' }),
  ];
  for (const way of [...ways, ...ways]) (await through.path('w1', [way], '10.0.1.1', 22)).settled();
  expect(connections).toHaveLength(ways.length);
  // A pin decides alone: what is on file does not matter then.
  await through.path('w1', [hop({ hostKeys: ['SHA256:a'], knownHostsFiles: [] })], '10.0.1.1', 22);
  expect(connections).toHaveLength(ways.length);
});

import { expect, test } from 'vitest';
import { deadReasons, quorumIsLost } from '../../src/cluster/member-host.ts';
import { refusedFor } from '../../src/cluster/reasons.ts';
import { ConnectError } from '../../src/errors.ts';
import { cp1, cp2, fleetIn, inventoryOf, joinedHost } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = inventoryOf({ hosts: [cp1, cp2] });
const down = fleetIn({ state: 'down', reason: 'etcd failed' }, joinedHost(cp1));
const member = (id: number, name: string, ip: string): string =>
  `{"ID":${String(id)},"name":"${name}","peerURLs":["https://${ip}:2380"],"clientURLs":["https://${ip}:2379"]}`;
const said = (...answering: readonly string[]): string =>
  [
    `members {"members":[${member(1, 'cp1', '10.0.0.11')},${member(2, 'cp2', '10.0.0.12')}]}`,
    `status [${answering.map((ip, i) => `{"Endpoint":"https://${ip}:2379","Status":{"header":{"member_id":${String(i + 1)}}}}`).join()}]`,
    'alarms {}',
  ].join('\n');

test('refuses to remove the dead member of two, with the arithmetic of the other member', async () => {
  const { on } = recordingOn({ run: () => said('10.0.0.11') });
  const refused = await quorumIsLost(on, inventory, down, ['cp2']);
  expect(refused?.message).toBe('cp2: refused: etcd has no quorum: 1 of 2 voters healthy, quorum 2');
  expect(refused?.remedy).toContain('kbuild etcd snapshot restore');
});

test('reports nothing if both members answer, because quorum is not lost', async () => {
  const { on } = recordingOn({ run: () => said('10.0.0.11', '10.0.0.12') });
  expect(await quorumIsLost(on, inventory, down, ['cp2'])).toBeUndefined();
});

test('reports nothing if no member answers, or if the cluster is up', async () => {
  const { on, sent } = recordingOn({ run: () => '' });
  expect(await quorumIsLost(on, inventory, down, ['cp2'])).toBeUndefined();
  expect(sent).toHaveLength(1);
  expect(await quorumIsLost(on, inventory, { ...down, cluster: { state: 'absent' } }, ['cp2'])).toBeUndefined();
  expect(sent).toHaveLength(1);
});

test('a command with --dead is refused for lost quorum alone, else for the API that does not answer', async () => {
  const unreachable = [
    { host: cp2, error: new ConnectError('cp2', 'gone', { retryable: true }), isDead: true as const },
  ];
  const without = { ...down, unreachable };
  const { on } = recordingOn({ run: () => said('10.0.0.11') });
  const lost = await quorumIsLost(on, inventory, without, ['cp2']);
  const namesOf = (seen: Parameters<(typeof deadReasons)[0]['test']>[0]) =>
    refusedFor(deadReasons, seen).map(({ refusal, subject }) => [refusal, subject]);
  expect(namesOf({ inventory, fleet: without, lost })).toEqual([['quorum-lost', 'cp2']]);
  expect(namesOf({ inventory, fleet: without, lost: undefined })).toEqual([['cluster-down', 'cp2']]);
  expect(namesOf({ inventory, fleet: { ...without, unreachable: [] }, lost: undefined })).toEqual([]);
});

import { expect, test } from 'vitest';
import type { LinuxFacts } from '../../../src/cluster/fleet/linux.ts';
import { observeEtcd } from '../../../src/cluster/fleet/observe-cluster.ts';
import { paths } from '../../../src/paths.ts';
import type { ExecResult } from '../../../src/ssh/transport.ts';
import { factsOf, hostOf, inventoryOf } from '../../fakes/cluster.ts';

const etcd1 = hostOf({ name: 'etcd1', role: 'etcd', internalAddress: '10.0.0.31' });
const etcd2 = hostOf({ name: 'etcd2', role: 'etcd', internalAddress: '10.0.0.32' });
const inventory = inventoryOf({ etcd: { topology: 'built', endpoints: [] }, hosts: [etcd1, etcd2] });
const member = factsOf({ kubernetesTraces: new Set([paths.etcdManifest]) });

const framed = (out: string, status = 0): ExecResult => ({
  stdout: `NONCE:begin:etcd\n${out}\nNONCE:end:etcd:${String(status)}\n`,
  stderr: `NONCE:begin:etcd\ncontext deadline exceeded\nNONCE:end:etcd:${String(status)}\n`,
  status: 0,
});
const WELL = framed(
  [
    'members {"members":[{"ID":17,"name":"etcd1","peerURLs":["https://10.0.0.31:2380"],"clientURLs":["https://10.0.0.31:2379"]},{"ID":18,"name":"etcd2","peerURLs":["https://10.0.0.32:2380"],"clientURLs":["https://10.0.0.32:2379"],"isLearner":true}]}',
    'health [{"endpoint":"https://10.0.0.31:2379","health":true}]',
    'status [{"Endpoint":"https://10.0.0.32:2379","Status":{"header":{"member_id":18},"leader":17,"dbSize":20480}}]',
    'alarms {}',
  ].join('\n'),
);

const observe = (answer: (host: string) => ExecResult, facts: readonly LinuxFacts[] = [member, member]) =>
  observeEtcd(
    inventory,
    [etcd1, etcd2].map((host, i) => ({ os: 'linux', host, facts: facts[i]! })),
    (host) => () => Promise.resolve(answer(host.name)),
    { nonce: () => 'NONCE' },
  );

test('the first member that answers tells for all; a learner that tells its status is well', async () => {
  const seen = await observe((host) => (host === 'etcd1' ? framed('', 1) : WELL));
  expect(seen).toMatchObject({ state: 'up', via: 'etcd2', alarms: [] });
  expect(seen?.state === 'up' && seen.members.map(({ id, healthy, learner }) => [id, healthy, learner])).toEqual([
    ['11', true, false],
    ['12', true, true],
  ]);
});

test('one that is there and does not answer is down, never absent', async () => {
  expect(await observe(() => framed('', 1))).toEqual({
    state: 'down',
    reason: expect.stringContaining('etcd1: status 1: context deadline exceeded; etcd2:') as string,
  });
});

test('lists no members before the first etcd host joins, and observes no etcd without hosts of role etcd', async () => {
  const bare = factsOf();
  expect(await observe(() => WELL, [bare, bare])).toEqual({ state: 'absent' });
  expect(
    await observeEtcd(inventoryOf(), [], () => () => Promise.reject(new Error()), { nonce: () => '' }),
  ).toBeUndefined();
});

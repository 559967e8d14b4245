/**
 * Snapshots at their worst: one of another cluster is refused, a restore of all members survives Ctrl-C, a kill and its deadline, and after two of three control planes are gone for good the one
 * that is left is put back from its snapshot, and grows again. The tests build on each other.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { start, type Ran, type Running } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { timed } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';

const HOSTS = ['vrcp1', 'vrcp2', 'vrcp3'];
const LATER = ['vrcp4', 'vrw1'];
let cluster: Stacked;
let snapshot: (name: string) => string;

const restore = (name: string, ...flags: readonly string[]): Promise<Ran> =>
  cluster.run('etcd', 'snapshot', 'restore', snapshot(name), '--yes', ...flags);
const startRestore = (name: string, ...flags: readonly string[]): Running =>
  start(['etcd', 'snapshot', 'restore', snapshot(name), '--yes', '--json', '-i', cluster.file, ...flags]);
const marked = (host: string): Promise<string> => kubectl(host, 'get configmaps -o name');

beforeAll(async () => {
  cluster = await stacked('harest', 7483, HOSTS);
  snapshot = (name) => join(cluster.file, '..', `${name}.db`);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, ...LATER]);
});

test('a cluster of the same name, of the same hosts, leaves a snapshot behind', async () => {
  await cluster.name(['vrcp1']);
  timed('1 control plane', await cluster.up());
  timed('snapshot', await cluster.run('etcd', 'snapshot', 'save', snapshot('former')));
  timed('reset', await cluster.run('reset', '--yes-destroy', 'harest'));
});

test('its snapshot is refused by the cluster that came after it, which goes on', async () => {
  await cluster.name(HOSTS);
  timed('3 control planes', await cluster.up());
  const { code, stderr } = await restore('former');
  expect(code, stderr).toBe(7);
  expect(stderr).toMatch(/former\.db is no snapshot of this cluster: it holds others, not sha256:/);
  expect(await membersOf(cluster)).toEqual(HOSTS);
});

test('a dead worker is forgotten, and the healthy control plane that has its address by now stays in etcd', async () => {
  const address = await kubectl(
    'vrcp1',
    `get node vrcp3 -o jsonpath='{.status.addresses[?(@.type=="InternalIP")].address}'`,
  );
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'vrw9' } };
  await kubectl('vrcp1', 'create -f -', JSON.stringify(node));
  const status = JSON.stringify({ status: { addresses: [{ type: 'InternalIP', address: address.trim() }] } });
  await kubectl('vrcp1', `patch node vrw9 --subresource=status --type=merge -p '${status}'`);
  timed('a dead worker removed', await cluster.run('remove', 'vrw9', '--dead', 'vrw9', '--yes', '--no-drain'));
  expect(await membersOf(cluster)).toEqual(HOSTS);
  expect(Object.keys(await nodes('vrcp1')).sort()).toEqual(HOSTS);
});

test('a restore onto one of three is refused while the other two serve', async () => {
  timed('snapshot', await cluster.run('etcd', 'snapshot', 'save', snapshot('three')));
  await cluster.name(['vrcp1']);
  for (const flags of [[], ['--dead', 'vrcp2,vrcp3']]) {
    const { code, stderr } = await restore('three', ...flags);
    expect(code, stderr).toBe(7);
    expect(stderr).toMatch(/vrcp2, vrcp3: refused: etcd runs there \(.*healthy.*\)/);
  }
  await cluster.name(HOSTS);
  expect(await membersOf(cluster)).toEqual(HOSTS);
});

test('a restore that Ctrl-C ends while control planes stop is finished by the same command, on all three members', async () => {
  await kubectl('vrcp1', 'create configmap written-before');
  timed('snapshot', await cluster.run('etcd', 'snapshot', 'save', snapshot('whole')));
  await kubectl('vrcp1', 'create configmap written-after');
  const cut = startRestore('whole');
  await waitUntil('a control plane stops', PATIENCE_MS, () => cut.printed().includes('"step":"etcd-restore-stopped"'));
  cut.kill('SIGINT');
  const { code, stderr } = await cut.ended;
  expect(code, stderr).toBe(130);
  expect(stderr).toContain('run the same command again');
  timed('the same command, three members', await restore('whole'));
  expect(await membersOf(cluster)).toEqual(HOSTS);
  const kept = await marked('vrcp3');
  expect(kept).toContain('configmap/written-before');
  expect(kept).not.toContain('configmap/written-after');
  expect((await cluster.up('--json')).stdout).not.toContain('"kind":"changed"');
});

test.each([
  ['the data changes places', 'etcd-restore-swapped'],
  ['control planes start with the new data', 'etcd-restore-started'],
])('a restore that is killed while %s is finished by the same command', async (_, step) => {
  await kubectl('vrcp1', `create configmap before-${step}`);
  const cut = startRestore('whole');
  await waitUntil(step, PATIENCE_MS, () => cut.printed().includes(`"step":"${step}"`));
  cut.kill('SIGKILL');
  expect((await cut.ended).code).toBeNull();
  const up = await cluster.up();
  expect(up.code, up.stderr).toBe(7);
  timed('the same command after a kill', await restore('whole'));
  expect(await membersOf(cluster)).toEqual(HOSTS);
  const kept = await marked('vrcp2');
  expect(kept).toContain('configmap/written-before');
  expect(kept).not.toContain(`configmap/before-${step}`);
  await expectSettled(cluster, HOSTS);
});

test('a restore that its --timeout ends says where it stands, and the same command finishes it', async () => {
  const late = await startRestore('whole', '--timeout', '12s').ended;
  expect(late.code, late.stderr).toBe(5);
  expect(late.stderr).toContain('the run did not end within 12 s (--timeout)');
  timed('the same command after its --timeout', await restore('whole'));
  expect(await membersOf(cluster)).toEqual(HOSTS);
  expect(await nodes('vrcp2')).toEqual({ vrcp1: true, vrcp2: true, vrcp3: true });
});

test('two of three are gone for good: no member can be removed, and the third is restored', async () => {
  await kubectl('vrcp1', 'create configmap before-the-snapshot');
  timed('snapshot', await cluster.run('etcd', 'snapshot', 'save', snapshot('last')));
  await kubectl('vrcp1', 'create configmap after-the-snapshot');
  await lab.kill(['vrcp2', 'vrcp3']);
  const { code, stderr } = await cluster.run('remove', 'vrcp2', 'vrcp3', '--yes', '--dead', 'vrcp2,vrcp3');
  expect(code, stderr).toBe(7);
  expect(stderr).toContain('etcd has no quorum: 1 of 3 voters healthy, quorum 2');
  await cluster.name(['vrcp1']);
  const unnamed = await restore('last');
  expect(unnamed.code, unnamed.stderr).toBe(7);
  expect(unnamed.stderr).toMatch(/etcd has these members beside the restored ones[^]*--dead vrcp2,vrcp3/);
  timed('restored onto the one that is left', await restore('last', '--dead', 'vrcp2,vrcp3'));
  const kept = await marked('vrcp1');
  expect(kept).toContain('configmap/before-the-snapshot');
  expect(kept).not.toContain('configmap/after-the-snapshot');
  expect(await membersOf(cluster)).toEqual(['vrcp1']);
});

test('it grows to three again, with new machines under the old names', async () => {
  await lab.reset(['vrcp2', 'vrcp3']);
  await cluster.name(HOSTS);
  timed('1 → 3', await cluster.up());
  expect(await membersOf(cluster)).toEqual(HOSTS);
  expect(await nodes('vrcp3')).toEqual({ vrcp1: true, vrcp2: true, vrcp3: true });
  expect(await marked('vrcp2')).toContain('configmap/before-the-snapshot');
  await expectSettled(cluster, HOSTS);
});

test('afterwards a control plane and a worker more can join', async () => {
  await expectJoins(cluster, HOSTS, LATER);
});

/**
 * Snapshots at their worst: one of another cluster is refused, and after two of three control planes are gone for good the one
 * that is left is put back from its snapshot, and grows again. The tests build on each other.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { timed } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';

const HOSTS = ['hacp1', 'hacp2', 'hacp3'];
let cluster: Stacked;
let snapshot: (name: string) => string;

const restore = (name: string): Promise<Ran> => cluster.run('etcd', 'snapshot', 'restore', snapshot(name), '--yes');
const marked = (host: string): Promise<string> => kubectl(host, 'get configmaps -o name');

beforeAll(async () => {
  cluster = await stacked('harest', 7483, HOSTS);
  snapshot = (name) => join(cluster.file, '..', `${name}.db`);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('a cluster of the same name, of the same hosts, leaves a snapshot behind', async () => {
  await cluster.name(['hacp1']);
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

test('two of three are gone for good: nobody can be removed, and the third is restored', async () => {
  await kubectl('hacp1', 'create configmap before-the-snapshot');
  timed('snapshot', await cluster.run('etcd', 'snapshot', 'save', snapshot('last')));
  await kubectl('hacp1', 'create configmap after-the-snapshot');
  await lab.kill(['hacp2', 'hacp3']);
  const { code, stderr } = await cluster.run('remove', 'hacp2', 'hacp3', '--yes', '--dead', 'hacp2,hacp3');
  expect(code, stderr).toBe(7);
  expect(stderr).toContain('etcd has no quorum: 1 of 3 voters healthy, quorum 2');
  await cluster.name(['hacp1']);
  timed('restored onto the one that is left', await restore('last'));
  const kept = await marked('hacp1');
  expect(kept).toContain('configmap/before-the-snapshot');
  expect(kept).not.toContain('configmap/after-the-snapshot');
  expect(await membersOf(cluster)).toEqual(['hacp1']);
});

test('it grows to three again, with new machines under the old names', async () => {
  await lab.reset(['hacp2', 'hacp3']);
  await cluster.name(HOSTS);
  timed('1 → 3', await cluster.up());
  expect(await membersOf(cluster)).toEqual(HOSTS);
  expect(await nodes('hacp3')).toEqual({ hacp1: true, hacp2: true, hacp3: true });
  expect(await marked('hacp2')).toContain('configmap/before-the-snapshot');
});

/**
 * All control planes are lost, and a backup is kept: `restore` brings the cluster back on new hosts, one of them with an old name, in spite
 * of two kills; workers come by themselves. While one control plane lives it is refused. The tests build on each other.
 */
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { kbuild } from '../kbuild.ts';
import { killedAtStep } from '../killed-at-step.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';

const OLD = ['l2cp1', 'l2cp2', 'l2cp3'];
const WORKERS = ['l2w1', 'l2w2'];
/** The first one is new, the second one has an old name and an empty disk. */
const NEW = ['l2cp4', 'l2cp1'];
const LATER = ['l2cp5', 'l2w3'];
let cluster: Stacked;
let folder: string;
let file: string;
let key: string;
let backup: object;

const restoring = (...flags: readonly string[]): readonly string[] => [
  ...['restore', file, '-i', cluster.file, '--identity', key, '--kubeconfig', cluster.kubeconfig, '--yes', ...flags],
];
beforeAll(async () => {
  cluster = await stacked('alllost', 7931, [...OLD, ...WORKERS]);
  folder = join(cluster.file, '..');
  const identity = await generateX25519Identity();
  key = join(folder, 'key');
  writeFileSync(key, `# a key of age\n${identity}\n`, { mode: 0o600 });
  backup = { backup: { recipients: [await identityToRecipient(identity)] } };
  await cluster.name([...OLD, ...WORKERS], backup);
  ok(await cluster.up());
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...OLD, ...NEW, ...WORKERS, ...LATER]);
});

test('a backup is taken, and while the API answers it restores nothing', async () => {
  await kubectl('l2cp1', 'create configmap before-the-backup');
  const taken = timed('backup', await cluster.run('backup', '--to', join(folder, 'kept'), '--keep', '2', '--quiet'));
  file = taken.stdout.trim();
  expect(
    readdirSync(join(folder, 'state', 'kbuild', 'alllost')).filter((name) => name.startsWith('unencrypted')),
  ).toEqual([]);
  const verified = ok(await kbuild('backup', 'verify', file, '--identity', key));
  for (const host of [...OLD, ...WORKERS]) expect(verified.stdout).toContain(host);
  expect(verified.stdout).toMatch(/cluster +alllost/);
  await kubectl('l2cp1', 'create configmap after-the-backup');
  const alive = await kbuild(...restoring());
  expect(alive.code, alive.stderr).toBe(7);
  expect(alive.stderr).toContain('the control planes are not lost');
});

test('while one of the old control planes still runs, new ones are refused', async () => {
  await lab.kill(['l2cp1', 'l2cp3']);
  await lab.up(NEW);
  await lab.reset(NEW);
  await cluster.name([...NEW, ...WORKERS], backup);
  const split = await kbuild(...restoring());
  expect(split.code, split.stderr).toBe(7);
  expect(split.stderr).toMatch(/something listens where the backup has control planes: .*l2cp2/);
  await lab.kill(['l2cp2']);
});

test('`up` founds no second cluster under the workers of the lost one', async () => {
  const founded = await cluster.up();
  expect(founded.code, founded.stderr).toBe(7);
  expect(founded.stderr).toContain('kbuild restore');
});

test('the cluster comes back on new hosts in spite of two kills, with all that the backup had', async () => {
  const writer = startWriter(cluster.kubeconfig);
  await killedAtStep(restoring('--json'), 'kubeadm-init');
  await killedAtStep(restoring('--json'), 'kubeadm-join');
  timed('restored', await kbuild(...restoring()));
  const { acknowledged, longestGapMs } = await writer.stop();
  console.log(`${String(acknowledged)} writes, longest gap ${String(longestGapMs)} ms`);
  expect(acknowledged).toBeGreaterThan(0);
  const first = NEW[0]!;
  expect(await membersOf(cluster)).toEqual([...NEW].sort());
  expect(await nodes(first)).toEqual(Object.fromEntries([...NEW, ...WORKERS].map((host) => [host, true])));
  const kept = await kubectl(first, 'get configmaps -o name');
  expect(kept).toContain('configmap/before-the-backup');
  expect(kept).not.toContain('configmap/after-the-backup');
  await expectSettled(cluster, [...NEW, ...WORKERS]);
  unchanged(timed('the same command again', await kbuild(...restoring())));
});

test('a control plane and a worker join, and nothing is left to do', async () => {
  await expectJoins(cluster, [...NEW, ...WORKERS], LATER, backup);
  expect(await membersOf(cluster)).toEqual([...NEW, 'l2cp5'].sort());
});

/**
 * What is half-finished is undone, and nothing that has served: a cut init keeps a copy of etcd's data, a leftover marker and an
 * API that is down wipe nothing. etcd's data lies in a folder of its own (`etcd.local.dataDir`), where snapshot, restore and
 * reset find it; a restore that was killed is ended by the same command. The tests build on each other.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { timed } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const CP = 'vdcp1';
const MINUTES_MS = 60_000;
const MARKER = '/var/lib/kbuild/marker.json';
const MANIFEST = '/etc/kubernetes/manifests/kube-apiserver.yaml';
let cluster: Stacked;

const inside = async (command: string): Promise<string> => (await lab.inside(CP, command)).stdout.trim();
const mark = (content: object): Promise<string> =>
  inside(`mkdir -p /var/lib/kbuild; echo '${JSON.stringify({ cluster: 'vundo', job: 'x', ...content })}' >${MARKER}`);
const marked = (): Promise<string> => inside(`cat ${MARKER} 2>/dev/null || echo none`);
const apiAnswers = async (): Promise<boolean> =>
  (await inside('kubectl --kubeconfig /etc/kubernetes/admin.conf get --raw /readyz 2>&1')) === 'ok';
const plan = (): Promise<Ran> => cluster.run('plan');
const snapshots = (): string => join(cluster.file, '..', 'state', 'kbuild', 'vundo', 'snapshots');
const file = (name: string): string => join(cluster.file, '..', `${name}.db`);

beforeAll(async () => {
  cluster = await stacked('vundo', 7497, [CP]);
  const { kubeadm } = (await lab.inventory([CP])) as unknown as { readonly kubeadm?: object };
  await cluster.name([CP], { kubeadm: { ...kubeadm, cluster: { etcd: { local: { dataDir: '/data/etcd' } } } } });
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([CP]);
});

test("an init that was cut after etcd had begun is undone, etcd's data is kept first, and the path is said", async () => {
  const running = cluster.startUp();
  await waitUntil(
    "etcd's data",
    10 * MINUTES_MS,
    async () => (await inside('ls /data/etcd/member/snap/db 2>/dev/null')) !== '',
  );
  running.kill('SIGKILL');
  await inside("systemctl kill -s KILL 'kbuild-job-kubeadm-init*'");
  expect(await marked()).toContain('"action":"init"');
  expect(await marked()).toContain('"stage":"begun"');
  const { stderr } = timed('up after a cut init', await cluster.up());
  expect(stderr).toMatch(/vdcp1: etcd's data is kept in \/.*undone-.*-vdcp1\.db/);
  const kept = readdirSync(snapshots()).filter((name) => name.startsWith('undone-'));
  expect(kept).toHaveLength(2);
  for (const name of kept) expect(statSync(join(snapshots(), name)).mode & 0o777).toBe(0o600);
  expect(await inside('ls -d /data/etcd/member /var/lib/etcd/member 2>/dev/null')).toBe('/data/etcd/member');
  expect((await plan()).stdout).toContain('nothing to do');
});

test('a leftover marker and an API that is down for a moment undo nothing', async () => {
  await kubectl(CP, 'create configmap precious');
  const before = await inside('stat -c %i /data/etcd/member');
  await inside(`mv ${MANIFEST} /root/`);
  await waitUntil('the API is down', 2 * MINUTES_MS, async () => !(await apiAnswers()));
  const markers = [
    { action: 'init', stage: 'done' },
    { action: 'init', stage: 'begun' },
    { action: 'upgrade', stage: 'begun' },
    { action: 'join', stage: 'done' },
  ];
  for (const marker of markers) {
    await mark(marker);
    // Older than all that an init has made: only what the kubelet uses tells that it served.
    if (marker.action === 'init') await inside(`touch -d 2020-01-01 ${MARKER}`);
    const { stdout, stderr } = await plan();
    expect(`${stdout}${stderr}`, JSON.stringify(marker)).not.toMatch(/undo a half-finished|create the cluster/);
  }
  await mark(markers[1]!);
  const { code, stderr } = await cluster.up('--timeout', '30s');
  expect(code, stderr).not.toBe(0);
  expect(stderr).not.toContain('undo a half-finished');
  expect(await inside('stat -c %i /data/etcd/member')).toBe(before);
  await inside(`mv /root/kube-apiserver.yaml ${MANIFEST}`);
  await waitUntil('the API answers', 3 * MINUTES_MS, apiAnswers);
  timed('up when the API is back', await cluster.up());
  expect(await marked()).toBe('none');
  expect(await kubectl(CP, 'get configmaps -o name')).toContain('configmap/precious');
});

test('a marker of an action that this version does not know is reported, and stays', async () => {
  await mark({ action: 'upgrade', stage: 'begun' });
  const { stdout, stderr } = await cluster.run('check');
  expect(`${stdout}${stderr}`).toContain('an unfinished upgrade of vundo lies here (begun)');
  expect((await plan()).stdout).toContain('nothing to do');
  expect(await marked()).toContain('upgrade');
  await inside(`rm ${MARKER}`);
});

test('a restore that was killed is gone on with by the same command alone; etcd serves what was restored', async () => {
  timed('snapshot', await cluster.run('etcd', 'snapshot', 'save', file('one')));
  await kubectl(CP, 'create configmap later');
  const args = ['etcd', 'snapshot', 'restore', file('one'), '--yes', '-i', cluster.file];
  const running = start(args);
  await waitUntil('the control plane is stopped', 3 * MINUTES_MS, async () => (await marked()).includes('"stopped"'));
  running.kill('SIGKILL');
  await running.ended;
  const refused = await cluster.up();
  expect(refused.code, refused.stderr).toBe(7);
  expect(refused.stderr).toContain('a restore of etcd was cut off here');
  const { stdout } = timed('the same restore again', await start(args).ended);
  expect(stdout).toMatch(/vundo is what .*one\.db held .*the data before it is in vdcp1:\/data\/etcd\/before-restore-/);
  const maps = await kubectl(CP, 'get configmaps -o name');
  expect(maps).toContain('configmap/precious');
  expect(maps).not.toContain('configmap/later');
  expect(await marked()).toBe('none');
  expect(await inside('ls -d /data/etcd/kbuild-restore /var/lib/kbuild/restore 2>/dev/null')).toBe('');
  timed('up after the restore', await cluster.up());
  expect((await plan()).stdout).toContain('nothing to do');
});

test('a restore that fails before anything stopped leaves no file behind, and its events are JSON', async () => {
  const listing = 'ls -A /data/etcd /var/lib/kbuild; cat /etc/kubernetes/manifests/etcd.yaml | sha256sum';
  const before = await inside(listing);
  const broken = file('broken');
  await import('node:fs/promises').then(async ({ copyFile, truncate }) => {
    await copyFile(file('one'), broken);
    await truncate(broken, statSync(broken).size - 4096);
  });
  const { code, stdout } = await cluster.run('etcd', 'snapshot', 'restore', broken, '--yes', '--json');
  expect(code, stdout).toBe(4);
  const kinds = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly kind: string }).kind);
  expect(kinds).toEqual(expect.arrayContaining(['locked', 'phase-started', 'changing', 'failed', 'done']));
  expect(await inside(listing)).toBe(before);
  timed('up after the restore that failed', await cluster.up());
  expect((await plan()).stdout).toContain('nothing to do');
});

test("reset takes etcd's data from its own folder, too", async () => {
  timed('reset', await cluster.run('reset', '--yes-destroy', 'vundo'));
  expect(await inside('ls -A /data/etcd /var/lib/etcd 2>/dev/null | grep -v :')).toBe('');
  expect(existsSync(snapshots())).toBe(true);
});

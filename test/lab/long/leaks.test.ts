/**
 * What a run must not give away, take away or take over, on one small cluster: a bundle without Secrets, a Lease that a run of
 * another container holds, and a volume of the host that is mounted below a folder that is emptied.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse, stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdLease, type ApiHost, type Lease } from '../../../src/engine/lease.ts';
import { fresh } from '../fresh.ts';
import { kbuild, PROGRAM, start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { kbuilds } from '../scenarios/kbuilds.ts';
import { waitUntil } from '../wait-until.ts';

const CP = 'tlcp1';
const W = 'tlw1';
const MINUTES_MS = 5 * 60_000;
const { connect, closeAll } = kbuilds();

let folder: string;
let file: string;
let up: readonly string[];
let plain: Record<string, unknown>;
const inside = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();
const write = (changed: object): void => writeFileSync(file, stringify(changed, { aliasDuplicateObjects: false }));

beforeAll(async () => {
  ({ folder, file, up } = await fresh('leaks', [CP, W]));
  plain = parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  timed('a control plane and a worker', await kbuild(...up));
});
afterAll(async () => {
  await closeAll();
  await lab.down([CP, W]);
});

test('a bundle of a cluster has no Secret of a manifest, no content of a file, and no log of other pods', async () => {
  const secret = (name: string, fields: object) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    ...fields,
  });
  const objects = [
    secret('plain', { stringData: { settings: 'URL=manifest-canary-1\n' } }),
    secret('encoded', { data: { password: Buffer.from('manifest-canary-2').toString('base64') } }),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'page' }, data: { text: 'manifest-canary-3' } },
  ];
  const manifest = join(folder, 'shop.yaml');
  writeFileSync(manifest, objects.map((object) => stringify(object)).join('---\n'));
  const page = { hosts: CP, path: '/etc/page', content: 'DB_PASSWORD=file-canary\n' };
  write({ ...plain, manifests: [manifest], files: [page] });
  ok(await kbuild(...up));
  // The kubelet removes folders of pods that it does not know, and leaves the others.
  const line = String.raw`2026-01-01T00:00:00Z stdout F log-canary manifest-canary-1 {"password": "shape-canary"}`;
  await inside(
    CP,
    `for pod in /var/log/pods/kube-system_etcd-* /var/log/pods/shop_web-1_0a; do mkdir -p $pod/mine; echo '${line}' >$pod/mine/0.log; done`,
  );
  const bundle = join(folder, 'status.tar.gz');
  await kbuild('status', file, '--bundle', bundle);
  const all = gunzipSync(readFileSync(bundle)).toString();
  expect(all).toMatch(/"kind": "ConfigMap",\s*"name": "page",\s*"sha256": "[0-9a-f]{64}"/);
  expect(all.split('\n').filter((one) => one.includes('log-canary'))).toEqual([
    '2026-01-01T00:00:00Z stdout F log-canary (secret) {"password": "(secret)"}',
  ]);
  expect(all).not.toContain('shop_web-1');
  expect(all).not.toMatch(/(?:manifest|file|shape)-canary/);
  expect(all).not.toContain(Buffer.from('manifest-canary-2').toString('base64').replace(/=+$/, ''));
  await inside(CP, 'rm -r /var/log/pods/kube-system_etcd-*/mine');
});

/** kbuild in a process namespace of its own, as in a container: the same user and machine name, other process ids. */
function contained(args: readonly string[]): Promise<Ran> {
  const from = performance.now();
  const child = spawn('unshare', ['--pid', '--fork', '--mount-proc', process.execPath, PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => (said[name] += chunk.toString()));
  return new Promise((resolve) =>
    child.on('close', (code) => resolve({ code, ...said, seconds: (performance.now() - from) / 1000 })),
  );
}

test('a Lease of a run in another container is not freed while it is renewed, and taken 45 s after the last time', async () => {
  const remote = await connect(CP);
  const api: ApiHost = { remote, server: `https://${lab.hostSettings(CP).address}:6443` };
  const run = '20260101t120000z-0a1b2c3d in 0a1b2c3d';
  const mine = { pid: process.pid, since: new Date().toISOString(), command: 'kbuild up', run };
  let reachable: ApiHost | undefined = api;
  const lease: Lease = await holdLease(() => reachable, { who: `${userInfo().username}@${hostname()}`, ...mine });
  const holder = () => kubectl(CP, "-n kube-system get lease kbuild -o jsonpath='{.spec.holderIdentity}'");
  expect(await holder()).toContain(`, run ${run}: kbuild up`);
  // Something is due. In a namespace of its own, no process has the id that the Lease names.
  await inside(W, 'rm /etc/modules-load.d/kbuild.conf');
  const refused = await contained(up);
  console.log(`refused after ${refused.seconds.toFixed(1)} s`);
  expect(refused.stderr).toContain(
    `cluster: refused: locked: held by ${userInfo().username}@${hostname()} (pid ${String(process.pid)})`,
  );
  expect(refused.code).toBe(7);
  expect(await holder()).toContain(run);

  // Cut off from the API, it renews no more. What the Lease says of times is not asked: this one is in the future.
  reachable = undefined;
  await kubectl(
    CP,
    `-n kube-system patch lease kbuild --type merge -p '{"spec":{"renewTime":"2099-01-01T00:00:00.000000Z"}}'`,
  );
  const taken = ok(await contained(up));
  expect(taken.stderr).toContain('if that is not renewed within 45 s, this run takes it');
  expect(taken.seconds).toBeGreaterThan(45);
  await lease.release();
  unchanged(await kbuild(...up));
});

test('a volume of the host that is mounted below the kubelet’s folder survives a reset', async () => {
  const volume = '/var/lib/kubelet/plugins/local/data';
  await inside(
    W,
    `mkdir -p /srv/data ${volume}; echo precious >/srv/data/file; mount --bind /srv/data ${volume}
     systemd-run --quiet --unit=holder --working-directory=${volume} sleep 3600`,
  );
  const remove = ['remove', W, '--inventory', file, '--yes'];
  const refused = await kbuild(...remove);
  console.log(`stopped at a mount after ${refused.seconds.toFixed(1)} s`);
  expect(refused.stderr).toContain(
    `still mounted in a folder that is to be emptied, nothing was deleted there: ${volume}`,
  );
  expect(refused.stderr).toContain('umount PATH');
  expect(refused.code).toBe(4);
  expect(await inside(W, 'cat /srv/data/file')).toBe('precious');
  await inside(W, 'systemctl stop holder');
  timed('remove', await kbuild(...remove));
  expect(await inside(W, `cat /srv/data/file; ls ${volume} 2>&1 || :; grep -c ${volume} /proc/mounts || :`)).toMatch(
    /^precious\nls: cannot access .*\n0$/,
  );
});

test('a volume below etcd’s data stops the reset of a control plane before anything is touched', async () => {
  await inside(
    CP,
    'mkdir -p /srv/data /var/lib/etcd/backup; echo precious >/srv/data/file; mount --bind /srv/data /var/lib/etcd/backup',
  );
  const { hosts } = plain as { readonly hosts: readonly { readonly name: string }[] };
  write({ ...plain, hosts: hosts.filter(({ name }) => name === CP) });
  const reset = ['reset', file, '--yes-destroy', 'leaks'];
  const running = start(reset);
  const refused = await running.ended;
  expect(refused.stderr).toContain('nothing was deleted there: /var/lib/etcd/backup');
  expect(refused.code).toBe(4);
  await waitUntil(
    'the API serves',
    MINUTES_MS,
    async () => (await kubectl(CP, 'get --raw /readyz').catch(() => '')) === 'ok',
  );
  await inside(CP, 'umount /var/lib/etcd/backup');
  timed('reset', await kbuild(...reset));
  expect(await inside(CP, 'cat /srv/data/file; ls /var/lib/etcd | wc -l')).toBe('precious\n0');
});

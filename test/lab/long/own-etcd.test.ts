/**
 * An etcd of the user's own: three members that kbuild neither builds nor touches, two control planes behind haproxy and
 * keepalived, a worker. kbuild reports what is wrong with it before kubeadm runs. The tests build on each other.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { timed, unchanged } from '../ok.ts';
import { makeAuthority, makeLeaf } from '../openssl.ts';
import { ownEtcd, type OwnEtcd } from '../own-etcd.ts';
import { nodes } from '../pods.ts';

const ETCD = ['haetcd1', 'haetcd2', 'haetcd3'];
const NODES = ['hacp1', 'hacp2', 'haw1'];
const VIP = '10.77.0.211';
const folder = mkdtempSync(join(tmpdir(), 'kbuild-own-etcd-'));
const file = join(folder, 'inventory.yaml');
let etcd: OwnEtcd;

const up = (...flags: readonly string[]): Promise<Ran> =>
  kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'), ...flags);
/** Writes the inventory; `other` are settings of `etcd` that differ from what is right. */
async function write(other: object = {}): Promise<void> {
  const inventory = await lab.inventory(NODES, { loadBalancer: { kind: 'keepalived', address: VIP } });
  const { endpoints, ca, client } = etcd;
  const its = { topology: 'external', endpoints, ca, cert: client.cert, key: client.key, ...other };
  writeFileSync(file, stringify({ ...inventory, name: 'haown', etcd: its }, { aliasDuplicateObjects: false }));
}
const traces = async (): Promise<string> =>
  (await lab.inside('hacp1', 'ls /etc/kubernetes/manifests/*.yaml /etc/kubernetes/*.conf 2>/dev/null; true')).stdout;

beforeAll(async () => {
  process.env['XDG_STATE_HOME'] = join(folder, 'state');
  await lab.up([...ETCD, ...NODES]);
  await lab.reset([...ETCD, ...NODES]);
  etcd = await ownEtcd(folder, ETCD);
});
afterAll(async () => {
  await lab.down([...ETCD, ...NODES]);
});

test('keys of another cluster in it are refused before kubeadm runs, and stay', async () => {
  await write();
  await etcd.ctl('put /registry/namespaces/theirs something');
  const { code, stderr } = await up();
  expect(code, stderr).toBe(7);
  // Whichever control plane is prepared first asks first.
  expect(stderr).toMatch(
    /hacp[12]: refused: the etcd at https:\/\/[\d.]+:2379 holds 1 keys of a Kubernetes cluster, and there is none of this inventory/,
  );
  expect(stderr).toContain('set etcd.endpoints to an etcd without keys below /registry/');
  expect(await etcd.ctl('get --prefix /registry/ --keys-only')).toContain('/registry/namespaces/theirs');
  expect(await traces()).toBe('');
  await etcd.ctl('del --prefix /registry/');
});

test('a client certificate of another authority is reported with each endpoint', async () => {
  const theirs = await makeAuthority(folder, 'theirs');
  const stranger = await makeLeaf(folder, 'stranger', theirs);
  await write({ cert: stranger.cert, key: stranger.key });
  const { code, stderr } = await up();
  expect(code, stderr).toBe(5);
  for (const url of etcd.endpoints) expect(stderr).toContain(url);
  expect(await traces()).toBe('');
});

test('a member that is down is reported, and kubeadm does not run', async () => {
  await write();
  await lab.inside('haetcd3', 'systemctl kill -s STOP own-etcd');
  const { code, stderr } = await up();
  expect(code, stderr).toBe(5);
  // The plan was made while the stranger's certificate lay there: the last word counts.
  const told = stderr.slice(stderr.lastIndexOf('wait until the external etcd is ready'));
  expect(told).toContain(`${etcd.endpoints[2]!}: `);
  expect(told).not.toContain(`${etcd.endpoints[0]!}: `);
  expect(await traces()).toBe('');
});

test('a control plane that cannot reach it is reported before kubeadm runs on any other', async () => {
  await lab.inside('haetcd3', 'systemctl kill -s CONT own-etcd');
  const rule = 'OUTPUT -p tcp --dport 2379 -j DROP';
  await lab.inside('hacp2', `iptables -I ${rule}`);
  const ran = await up();
  await lab.inside('hacp2', `iptables -D ${rule}`);
  console.log(`refused after ${ran.seconds.toFixed(1)} s`);
  expect(ran.code, ran.stderr).toBe(5);
  const told = ran.stderr.slice(ran.stderr.lastIndexOf('wait until the external etcd is ready'));
  for (const url of etcd.endpoints) expect(told).toContain(`${url}: `);
  expect(ran.stderr).toMatch(/hacp2: .*wait until the external etcd is ready/);
  expect(await traces()).toBe('');
});

test('two control planes and a worker on three members are built', async () => {
  timed('3 own etcd members, 2 + 1 built', await up());
  expect(await nodes('hacp1')).toEqual({ hacp1: true, hacp2: true, haw1: true });
  expect(
    Number((await etcd.ctl('get --prefix /registry/ --count-only -w fields | sed -n "s/.Count. : //p"')).trim()),
  ).toBeGreaterThan(100);
});

test('a second run has nothing to do', async () => {
  unchanged(timed('second run', await up()));
});

test('a snapshot of it is not taken: it is the user’s', async () => {
  const { code, stderr } = await kbuild('etcd', 'snapshot', 'save', '-i', file);
  expect(code, stderr).toBe(7);
  expect(stderr).toContain('its etcd is your own, and so are its snapshots');
});

test('its space is the user’s too: kbuild defragments none of its members', async () => {
  const { code, stderr } = await kbuild('etcd', 'defragment', file, '--yes');
  expect(code, stderr).toBe(7);
  expect(stderr).toContain(
    `its etcd is your own (${etcd.endpoints.join(', ')}), and kbuild does not change its members`,
  );
});

test('reset leaves its members and its data, and the next up refuses what lies there', async () => {
  timed('reset', await kbuild('reset', file, '--yes-destroy', 'haown'));
  expect(await etcd.ctl('get --prefix /registry/namespaces/ --keys-only')).toContain('/registry/namespaces/default');
  const { code, stderr } = await up();
  expect(code, stderr).toBe(7);
  expect(stderr).toContain('keys of a Kubernetes cluster');
});

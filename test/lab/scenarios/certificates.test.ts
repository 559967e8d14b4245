/** The user's own CA, and control planes that get the certificates they share by copying: built, left alone, another CA refused. */
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { makeAuthority, type KeyPair } from '../openssl.ts';
import { kubectl, nodes } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';

const HOSTS = ['hacp1', 'hacp2'];
let cluster: Stacked;
let mine: KeyPair;
let other: KeyPair;

const using = ({ cert, key }: KeyPair) => ({ distribution: 'copy', ca: { cert, key: `file:${key}` } });

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-ca-'));
  mine = await makeAuthority(folder, 'the-users-own');
  other = await makeAuthority(folder, 'another');
  cluster = await stacked('hacert', 7463, HOSTS, { certificates: using(mine) });
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('two control planes are built with the CA of the user, and the second gets it from the first', async () => {
  const ran = ok(await cluster.up('--json', '--log-file', join(cluster.file, '..', 'up.log')));
  console.log(`2 control planes with a CA of the user's own, copied: ${ran.seconds.toFixed(1)} s`);
  expect(await membersOf(cluster)).toEqual(HOSTS);
  expect(await nodes('hacp2')).toEqual({ hacp1: true, hacp2: true });
  const ca = readFileSync(mine.cert, 'utf8');
  for (const host of HOSTS) expect((await lab.inside(host, 'cat /etc/kubernetes/pki/ca.crt')).stdout).toBe(ca);
});

test('the copies have the modes that kubeadm gives them, and are the same on both', async () => {
  const files = (host: string) =>
    lab.inside(
      host,
      'cd /etc/kubernetes/pki && stat -c "%a %U:%G %n" ca.* sa.* front-proxy-ca.* etcd/ca.* && sha256sum ca.* sa.* front-proxy-ca.* etcd/ca.*',
    );
  const [first, second] = await Promise.all(HOSTS.map(files));
  expect(second!.stdout).toBe(first!.stdout);
  expect(first!.stdout).toContain('600 root:root ca.key\n');
  expect(first!.stdout).toContain('600 root:root etcd/ca.key\n');
  expect(first!.stdout).toContain('644 root:root ca.crt\n');
});

test('nothing was uploaded, and no private key is in a log, in a job or on this machine', async () => {
  expect(await kubectl('hacp1', '-n kube-system get secrets -o name')).not.toContain('kubeadm-certs');
  const events = await kubectl('hacp1', '-n kube-system get events -o name');
  expect(events).not.toContain('kubeadm-certs');
  const { stdout: key } = await lab.inside(
    'hacp1',
    "sed -n '2p' /etc/kubernetes/pki/sa.key /etc/kubernetes/pki/etcd/ca.key",
  );
  const lines = key.trim().split('\n');
  expect(lines.every((line) => line.length > 40)).toBe(true);
  const folder = join(cluster.file, '..');
  const kept = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && !path.endsWith('.db'));
  expect(kept.length).toBeGreaterThan(1);
  for (const path of kept)
    for (const line of lines) expect(readFileSync(path, 'utf8').includes(line), path).toBe(false);
  for (const host of HOSTS) expect((await lab.inside(host, 'find /run/kbuild -name "pki_*"')).stdout).toBe('');
});

test('a second run has nothing to do', async () => {
  expect(ok(await cluster.up()).stdout).toBe('nothing to do\n');
});

test('another CA in the inventory is refused', async () => {
  await cluster.name(HOSTS, { certificates: using(other) });
  const { code, stderr } = await cluster.up();
  expect(code, stderr).toBe(7);
  expect(stderr).toMatch(
    /certificates\.ca is sha256:\w{12}…, the cluster was made with sha256:\w{12}…, and Kubernetes cannot change it/,
  );
});

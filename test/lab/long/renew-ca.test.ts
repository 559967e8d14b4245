/**
 * The CA of a cluster gets a new end with its old key, killed in the middle: what it has signed stays valid, a kubeconfig from before
 * too. Then it is rotated as far as the new one signs, and taken back. Hosts join in between and afterwards.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { byKbuild, byKubeadm, trustedBy } from '../authorities.ts';
import { killedAtChanges } from '../killed-at-changes.ts';
import { kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { expectJoins } from '../lives-on.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { stacked, type Stacked } from '../stacked.ts';

const HOSTS = ['l1cp1', 'l1w1'];
const LATER = 'l1w2';
const LAST = ['l1cp2', 'l1w3'];
const [cp, w] = HOSTS as [string, string];
let cluster: Stacked;
let before: string;

const changing = (...args: readonly string[]): readonly string[] => [
  ...['certs', ...args, '-i', cluster.file, '--yes', '--kubeconfig', cluster.kubeconfig],
];
const run = (...args: readonly string[]): Promise<Ran> => kbuild(...changing(...args));

/** Serial number, end and key of a host's CA. */
const caOf = async (host: string): Promise<readonly string[]> => {
  const { stdout } = await lab.inside(
    host,
    'cd /etc/kubernetes/pki; openssl x509 -in ca.crt -noout -serial; openssl x509 -in ca.crt -noout -pubkey | sha256sum; sha256sum <ca.crt',
  );
  return stdout.trim().split('\n');
};

beforeAll(async () => {
  await lab.up([...HOSTS, LATER]);
  await lab.reset([LATER]);
  cluster = await stacked('l1renew', 7481, HOSTS);
  ok(await cluster.up());
  before = join(cluster.file, '..', 'before.kubeconfig');
  copyFileSync(cluster.kubeconfig, before);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, LATER, ...LAST]);
});

/** Nothing is left to do, kubeadm agrees, and all nodes are Ready. */
async function isWhole(hosts: readonly string[]): Promise<void> {
  unchanged(await cluster.up());
  const shown = ok(await cluster.run('certs', '--json')).stdout;
  expect(byKbuild(shown, cp)).toEqual(await byKubeadm(cp));
  expect(await nodes(cp)).toEqual(Object.fromEntries(hosts.map((host) => [host, true])));
}

test('the plan names what would change, and changes nothing', async () => {
  const old = await caOf(cp);
  const { stdout } = ok(await run('renew-ca', '--plan'));
  expect(stdout).toContain('renew the authority ca on l1cp1 with the same key');
  expect(stdout).toContain('have l1w1 trust the renewed authority ca');
  expect(await caOf(cp)).toEqual(old);
});

test('authorities get a new end with the same key, also when kbuild is killed at every change', async () => {
  const [serial, key] = await caOf(cp);
  const { last, kills } = await killedAtChanges(changing('renew-ca', 'ca'));
  ok(last);
  expect(kills).toBeGreaterThan(0);
  const after = await caOf(cp);
  expect(after[0]).not.toBe(serial);
  expect(after[1]).toBe(key);
  expect(await caOf(w)).toEqual(after);
  const { stdout: embedded } = await lab.inside(
    cp,
    "cd /etc/kubernetes; for conf in *.conf; do sed -n 's/^ *certificate-authority-data: *//p' $conf | base64 -d | sha256sum; done | sort -u",
  );
  expect(embedded.trim()).toBe(after[2]);
  const given = await kubectl(cp, "-n kube-system get configmap kube-root-ca.crt -o jsonpath='{.data.ca\\.crt}'");
  expect(given.trim()).toBe((await lab.inside(cp, 'cat /etc/kubernetes/pki/ca.crt')).stdout.trim());
  await isWhole(HOSTS);
});

test('what is renewed without a kill takes this long, and etcd and the front proxy are as well as before', async () => {
  timed('authorities of 1 control plane and 1 worker renewed', await run('renew-ca', '--again'));
  await isWhole(HOSTS);
});

test('a kubeconfig from before is accepted, and a worker can join', async () => {
  const { code, stderr } = await kbuild('status', cluster.file);
  expect(code, stderr).toBe(0);
  const { stdout } = await lab.inside(
    cp,
    'cat >/run/before.conf && kubectl --kubeconfig /run/before.conf get nodes -o name; rm /run/before.conf',
    (await import('node:fs')).readFileSync(before, 'utf8'),
  );
  expect(stdout).toContain('node/l1w1');
  await cluster.name([...HOSTS, LATER]);
  ok(await cluster.up());
  await isWhole([...HOSTS, LATER]);
});

test('a rotation is taken back from where the new CA signs', async () => {
  const old = await caOf(cp);
  const conf = { 'ca.crt': 'kubernetes', 'admin.conf': 'kubernetes', 'kubelet.conf': 'kubernetes' };
  expect(await trustedBy(cp)).toMatchObject(conf);
  timed('a rotation of 1 + 2 hosts until the new CA signs', await run('rotate-ca', '--until', 'sign'));
  expect((await trustedBy(cp))['ca.crt']).toMatch(/^kubernetes-\d{8}t\d{6}z kubernetes$/);
  const signed = ok(await cluster.run('certs', '--json')).stdout;
  expect(signed).toMatch(/"issuer": ?"kubernetes-/);
  timed('taken back', await run('rotate-ca', '--rollback'));
  expect(await caOf(cp)).toEqual(old);
  expect(await trustedBy(cp)).toMatchObject(conf);
  expect(await trustedBy(w)).toMatchObject({ 'ca.crt': 'kubernetes', 'kubelet.conf': 'kubernetes' });
  expect((await lab.inside(cp, 'ls /etc/kubernetes/pki')).stdout).not.toMatch(/ca-(?:old|new|signing)/);
  expect(ok(await cluster.run('certs', '--json')).stdout).not.toMatch(/"issuer": ?"kubernetes-/);
  await isWhole([...HOSTS, LATER]);
});

test('afterwards a control plane and a worker can join', async () => {
  await expectJoins(cluster, [...HOSTS, LATER], LAST);
});

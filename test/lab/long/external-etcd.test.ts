/**
 * An etcd that kbuild builds on hosts of its own, with an authority of the user's: three members, two control planes and a worker by one run; certificates
 * renewed, a snapshot restored, a member destroyed and replaced, another one emptied. The tests build on each other.
 */
import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { daysLeft, daysServed, shorten } from '../etcd-leaf.ts';
import { eventsOf } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { timed, unchanged } from '../ok.ts';
import { makeAuthority, type KeyPair } from '../openssl.ts';
import { kubectl, nodes } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';

const MEMBERS = ['eeetcd1', 'eeetcd2', 'eeetcd3'] as const;
const [one, two, three] = MEMBERS;
const HOSTS = [...MEMBERS, 'eecp1', 'eecp2', 'eew1'];
let authority: KeyPair;
let cluster: Stacked;
let writer: ReturnType<typeof startWriter>;

beforeAll(async () => {
  authority = await makeAuthority(mkdtempSync(join(tmpdir(), 'kbuild-etcd-ca-')), 'own-etcd');
  cluster = await stacked('eelong', 7461, HOSTS, {
    etcd: { topology: 'external' },
    certificates: { etcdCa: { cert: authority.cert, key: `file:${authority.key}` } },
  });
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('3 etcd + 2 control planes + 1 worker are built by one run, as planned', async () => {
  const ran = timed('3 + 2 + 1 built', await cluster.up('--json'));
  expect(eventsOf(ran).filter(({ kind }) => kind === 'unplanned')).toEqual([]);
  expect(await membersOf(cluster)).toEqual(MEMBERS);
  expect(await nodes('eecp1')).toEqual({ eecp1: true, eecp2: true, eew1: true });
});

test('a second run has nothing to do', async () => {
  unchanged(timed('second run', await cluster.up()));
});

test("the key of etcd's authority is on every host of etcd, for root alone, and nowhere else", async () => {
  for (const host of HOSTS) {
    const { stdout } = await lab.inside(host, 'find / -xdev -name ca.key -path "*etcd*" -exec stat -c "%a %n" {} +');
    expect(stdout.trim(), host).toBe(
      MEMBERS.some((name) => name === host) ? '600 /etc/kubernetes/pki/etcd/ca.key' : '',
    );
    const { stdout: issuers } = await lab.inside(
      host,
      'cd /etc/kubernetes/pki; for leaf in etcd/server etcd/peer apiserver-etcd-client; do if [ -e $leaf.crt ]; then openssl x509 -noout -issuer -in $leaf.crt; fi; done',
    );
    expect(new Set(issuers.replaceAll(' = ', '=').trim().split('\n').filter(Boolean)), host).toEqual(
      new Set(host === 'eew1' ? [] : ['issuer=CN=own-etcd']),
    );
  }
});

test('certificates that run out in 10 days are renewed by up, and really used', async () => {
  await shorten(two, 'etcd/server', 10, one);
  await shorten(three, 'etcd/peer', 10, one);
  await shorten('eecp2', 'apiserver-etcd-client', 10, one);
  expect([await daysServed(two), await daysLeft('eecp2', 'apiserver-etcd-client')]).toEqual([9, 9]);
  const ran = timed('three certificates renewed', await cluster.up('--json'));
  const changed = eventsOf(ran).flatMap((event) => (event.kind === 'changed' ? [`${event.host} ${event.step}`] : []));
  expect(changed).toEqual([`${two} etcd-certificates`, `${three} etcd-certificates`, 'eecp2 etcd-client-certificate']);
  expect(await daysServed(two)).toBeGreaterThan(300);
  expect(await daysLeft(three, 'etcd/peer')).toBeGreaterThan(300);
  expect(await daysLeft('eecp2', 'apiserver-etcd-client')).toBeGreaterThan(300);
  unchanged(await cluster.up());
});

test('a snapshot is restored into all members, and what was written since is gone', async () => {
  const path = join(cluster.file, '..', 'restored.db');
  timed('snapshot', await cluster.run('etcd', 'snapshot', 'save', path));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await kubectl('eecp1', 'create namespace since');
  timed('restore', await cluster.run('etcd', 'snapshot', 'restore', path, '--yes'));
  expect(await membersOf(cluster)).toEqual(MEMBERS);
  expect(await kubectl('eecp2', 'get namespaces -o name')).not.toContain('since');
  // An API server that could not find etcd meanwhile was restarted by its kubelet: that it runs on is waited for.
  expect((await cluster.up('--json')).stdout).not.toContain('"kind":"changed"');
  writer = startWriter(cluster.kubeconfig);
});

test('a member is destroyed: no other can be removed, the dead one can, and its replacement joins', async () => {
  await lab.kill([one]);
  const { code, stderr } = await cluster.run('remove', two, '--yes', '--dead', one);
  expect(code, stderr).toBe(7);
  expect(stderr).toContain(`2 of 3 voters healthy, quorum 2; without ${two} 1 of 2 would be healthy, quorum 2`);
  expect((await cluster.run('remove', one, '--yes')).code).toBe(3);
  timed('the dead member removed', await cluster.run('remove', one, '--yes', '--dead', one));
  await lab.reset([one]);
  timed('replaced', await cluster.up());
  expect(await membersOf(cluster)).toEqual(MEMBERS);
  unchanged(await cluster.up());
});

test('a host that came back empty has its old member removed, and joins anew', async () => {
  await lab.reset([two]);
  timed('an emptied member', await cluster.up());
  expect(await membersOf(cluster)).toEqual(MEMBERS);
});

test('nothing that was acknowledged is lost', async () => {
  const { acknowledged, lost, longestGapMs } = await writer.stop();
  console.log(`${String(acknowledged)} writes acknowledged, longest gap ${String(longestGapMs)} ms`);
  expect(lost).toEqual([]);
});

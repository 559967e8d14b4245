/** Three control planes with stacked etcd: built, left alone by a second run, what is refused, a snapshot, the first one removed. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { kubectl, nodes } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';

const HOSTS = ['hcp1', 'hcp2', 'hcp3', 'hw1'];
let cluster: Stacked;

const ok = (ran: Ran): Ran => {
  expect(ran.code, `${ran.stdout}\n${ran.stderr}`).toBe(0);
  return ran;
};

beforeAll(async () => {
  cluster = await stacked('hstack', 7443, HOSTS);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('three control planes and a worker are built, one control plane after another, as planned', async () => {
  const ran = ok(await cluster.up('--json'));
  const events = eventsOf(ran);
  const took = (step: string) =>
    events.flatMap((event) =>
      event.kind === 'changed' && event.step === step && event.phase !== 'join' ? [event.durationMs] : [],
    );
  const serial = [...took('kubeadm-init'), ...took('kubeadm-join')].reduce((sum, ms) => sum + ms, 0);
  console.log(`3 + 1 built: ${ran.seconds.toFixed(1)} s; init and serial joins ${(serial / 1000).toFixed(1)} s`);
  expect(events.filter(({ kind }) => kind === 'unplanned')).toEqual([]);
  expect(await membersOf(cluster)).toEqual(['hcp1', 'hcp2', 'hcp3']);
  expect(await nodes('hcp2')).toEqual({ hcp1: true, hcp2: true, hcp3: true, hw1: true });
});

test('neither certificates nor tokens of the joins are left', async () => {
  const secrets = await kubectl('hcp1', '-n kube-system get secrets -o name');
  expect(secrets).not.toContain('kubeadm-certs');
  expect(secrets).not.toContain('bootstrap-token');
});

test('CoreDNS is not on one node alone', async () => {
  const where = await kubectl(
    'hcp1',
    "-n kube-system get pods -l k8s-app=kube-dns -o jsonpath='{.items[*].spec.nodeName}'",
  );
  expect(new Set(where.trim().split(' ')).size).toBe(2);
});

test('a second run has nothing to do', async () => {
  expect(ok(await cluster.up()).stdout).toBe('nothing to do\n');
});

test('what would cost the control plane is refused', async () => {
  for (const args of [
    ['remove', 'hcp1', 'hcp2', 'hcp3', '--yes'],
    ['reset', '--hosts', 'hcp*', '--yes-destroy', 'hcp1,hcp2,hcp3'],
  ]) {
    const { code, stderr } = await cluster.run(...args);
    expect(code, stderr).toBe(7);
  }
  expect(await membersOf(cluster)).toEqual(['hcp1', 'hcp2', 'hcp3']);
});

test('a snapshot is verified and private', async () => {
  const path = join(cluster.file, '..', 'snapshot.db');
  ok(await cluster.run('etcd', 'snapshot', 'save', path));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(existsSync(`${path}.json`)).toBe(true);
});

test('the host that founded the cluster is removed, and the cluster goes on', async () => {
  const ran = ok(await cluster.run('remove', 'hcp1', '--yes'));
  console.log(`a control plane removed: ${ran.seconds.toFixed(1)} s`);
  expect(await membersOf(cluster)).toEqual(['hcp2', 'hcp3']);
  expect(Object.keys(await nodes('hcp2')).sort()).toEqual(['hcp2', 'hcp3', 'hw1']);
  expect((await lab.inside('hcp1', 'ls -A /etc/kubernetes/manifests /var/lib/etcd 2>/dev/null')).stdout).not.toContain('.yaml'); // prettier-ignore
});

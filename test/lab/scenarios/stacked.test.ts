/** Three control planes with stacked etcd: built, left alone by a second run, what is refused, a snapshot, the first one removed. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf } from '../kbuild.ts';
import { unmetExpectations } from '../kubeadm-expectations.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';

const HOSTS = ['hcp1', 'hcp2', 'hcp3', 'hw1'];
let cluster: Stacked;

beforeAll(async () => {
  cluster = await stacked('hstack', 7443, HOSTS);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('three control planes and a worker are built, one control plane after another, as planned', async () => {
  const running = cluster.startUp('--json');
  // Held in the middle of its join, so that another kbuild meets it there.
  await waitUntil(
    'hcp2 to join',
    600_000,
    async () => (await lab.inside('hcp2', "pkill -STOP -f '^kubeadm join'")).code === 0,
  );
  const second = await cluster.up();
  await lab.inside('hcp2', "pkill -CONT -f '^kubeadm join'");
  const ran = ok(await running.ended);
  expect(second.code, second.stderr).toBe(7);
  expect(second.stderr).toMatch(/refused: locked: held by /);
  const events = eventsOf(ran);
  const joins = events.flatMap((event) =>
    (event.kind === 'changing' || event.kind === 'changed') &&
    event.phase === 'control-planes' &&
    event.step === 'kubeadm-join'
      ? [`${event.kind} ${event.host}`]
      : [],
  );
  expect(joins).toEqual(['changing hcp2', 'changed hcp2', 'changing hcp3', 'changed hcp3']);
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

test("the cluster is what kubeadm's own tests expect of one", async () => {
  expect(await unmetExpectations(['hcp1', 'hcp2', 'hcp3'])).toEqual([]);
});

test('CoreDNS is not on one node alone', async () => {
  const where = await kubectl(
    'hcp1',
    "-n kube-system get pods -l k8s-app=kube-dns -o jsonpath='{.items[*].spec.nodeName}'",
  );
  expect(new Set(where.trim().split(' ')).size).toBe(2);
});

test('a second run has nothing to do', async () => {
  unchanged(await cluster.up());
});

/** A command that is refused, with these words. */
async function refused(words: string | RegExp, ...args: readonly string[]): Promise<void> {
  const { code, stderr, seconds } = await cluster.run(...args);
  console.log(`${args.join(' ')}: refused after ${seconds.toFixed(1)} s`);
  expect(code, stderr).toBe(7);
  expect(stderr).toMatch(words);
}

test('what would cost the control plane is refused', async () => {
  const all = 'hcp1, hcp2, hcp3: refused: they are all control planes of hstack';
  await refused(all, 'remove', 'hcp1', 'hcp2', 'hcp3', '--yes');
  await refused(all, 'reset', '--hosts', 'hcp*', '--yes-destroy', 'hcp1,hcp2,hcp3');
  expect(await membersOf(cluster)).toEqual(['hcp1', 'hcp2', 'hcp3']);
});

test('one of three is not removed while another is down, neither by remove nor by reset', async () => {
  const arithmetic = '2 of 3 voters healthy, quorum 2; without hcp2 1 of 2 would be healthy, quorum 2';
  // Frozen, not ended: the kubelet does not restart it.
  await lab.inside('hcp3', 'pkill -STOP -x etcd');
  await refused(arithmetic, 'remove', 'hcp2', '--yes');
  await refused(arithmetic, 'reset', '--hosts', 'hcp2', '--yes-destroy', 'hcp2');
  await lab.inside('hcp3', 'pkill -CONT -x etcd');
  await waitUntil('etcd of hcp3', PATIENCE_MS, async () => (await membersOf(cluster)).join() === 'hcp1,hcp2,hcp3');
});

test('a disruption budget keeps a control plane from being drained: its node and its member stay', async () => {
  const dns = "-n kube-system get pods -l k8s-app=kube-dns -o jsonpath='{.items[*].spec.nodeName}'";
  // CoreDNS is on two nodes, and only one of all is a worker.
  const host = (await kubectl('hcp1', dns))
    .trim()
    .split(' ')
    .find((name) => name !== 'hw1')!;
  await kubectl(
    'hcp1',
    '-n kube-system create poddisruptionbudget dns --selector=k8s-app=kube-dns --min-available=100%',
  );
  const ran = await cluster.run('remove', host, '--yes', '--drain-timeout', '10s');
  console.log(`${host} not drained: ${ran.seconds.toFixed(1)} s`);
  await kubectl('hcp1', '-n kube-system delete poddisruptionbudget dns');
  expect(ran.code, ran.stderr).toBe(4);
  expect(ran.stderr).toMatch(
    new RegExp(`✖ ${host}: status 1: drain ${host}\\n.*kube-system/coredns-.* \\(kept by PodDisruptionBudget dns`),
  );
  expect(ran.stderr).toContain(`kbuild remove ${host} --no-drain`);
  // What the drain has cordoned takes pods again.
  expect(await kubectl('hcp1', `get node ${host} -o jsonpath='{.spec.unschedulable}'`)).toBe('');
  expect(await membersOf(cluster)).toEqual(['hcp1', 'hcp2', 'hcp3']);
  expect(Object.keys(await nodes('hcp1')).sort()).toEqual(['hcp1', 'hcp2', 'hcp3', 'hw1']);
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
  expect((await lab.inside('hcp1', 'ls -A /etc/kubernetes/manifests /var/lib/etcd 2>/dev/null')).stdout).not.toContain(
    '.yaml',
  );
});

test('while etcd has an alarm no member joins and none is removed', async () => {
  const alarm = (action: string) =>
    lab.inside(
      'hcp2',
      `cd /etc/kubernetes/pki/etcd && curl -sS --cacert ca.crt --cert server.crt --key server.key https://127.0.0.1:2379/v3/maintenance/alarm -d '{"action":"${action}","memberID":"1","alarm":"NOSPACE"}'`,
    );
  await alarm('ACTIVATE');
  // The inventory still names hcp1, which would join.
  await refused('hcp1: refused: etcd has an alarm: NOSPACE on 1', 'up', '--yes');
  await refused('hcp3: refused: etcd has an alarm: NOSPACE on 1', 'remove', 'hcp3', '--yes');
  await alarm('DEACTIVATE');
});

test('a host with another cluster’s CA is refused, and stays as it is', async () => {
  await lab.inside(
    'hcp1',
    `mkdir -p /etc/kubernetes/pki && cat > /etc/kubernetes/pki/ca.crt`,
    readFileSync(lab.tls.ca, 'utf8'),
  );
  await refused(/hstack: refused: the hosts belong to 2 clusters, by the public keys of their CAs/, 'up', '--yes');
  expect((await lab.inside('hcp1', 'cat /etc/kubernetes/pki/ca.crt')).stdout).toBe(readFileSync(lab.tls.ca, 'utf8'));
  await lab.inside('hcp1', 'rm /etc/kubernetes/pki/ca.crt');
});

test('the dead one of two cannot be removed: the one that is left has no quorum', async () => {
  await lab.kill(['hcp3']);
  await refused(
    'hcp3: refused: etcd has no quorum: 1 of 2 voters healthy, quorum 2',
    'remove',
    'hcp3',
    '--yes',
    '--dead',
    'hcp3',
  );
});

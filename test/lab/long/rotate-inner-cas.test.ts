/**
 * The authorities of etcd and of the front proxy are replaced by ones with new keys, on three control planes, while a client writes
 * through the endpoint. kbuild is killed at every change of the rotation of etcd's, and a control plane joins in its middle.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter, type Written } from '../api-writer.ts';
import { eventsOf, kbuild } from '../kbuild.ts';
import { killedAtChanges } from '../killed-at-changes.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok, timed } from '../ok.ts';
import { etcdOf, membersOf, stacked, type Stacked } from '../stacked.ts';

const CONTROL_PLANES = ['ricp1', 'ricp2', 'ricp3'];
const JOINED = 'ricp4';
const LATER = ['ricp5', 'riw1'];
const ALL = [...CONTROL_PLANES, JOINED];
const [cp] = CONTROL_PLANES as [string];
let cluster: Stacked;

const rotation = (authority: string, ...flags: readonly string[]): readonly string[] => [
  ...['certs', 'rotate-ca', authority, '-i', cluster.file, '--yes', '--kubeconfig', cluster.kubeconfig, ...flags],
];

beforeAll(async () => {
  await lab.up([JOINED]);
  await lab.reset([JOINED]);
  cluster = await stacked('rirotate', 7483, CONTROL_PLANES);
  ok(await cluster.up());
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...CONTROL_PLANES, JOINED, ...LATER]);
});

/** Whether a client with certificates of the old authority gets into etcd, and one with the new ones. */
const etcdAnswers = async (pki: string): Promise<boolean> => {
  const { code } = await lab.inside(
    cp,
    `curl -sf --max-time 5 --cacert ${pki}/ca.crt --cert ${pki}/healthcheck-client.crt --key ${pki}/healthcheck-client.key https://127.0.0.1:2379/health`,
  );
  return code === 0;
};

const keyOf = async (host: string, file: string): Promise<string> =>
  (await lab.inside(host, `openssl x509 -in /etc/kubernetes/pki/${file} -noout -pubkey | sha256sum`)).stdout;

async function isWhole(hosts: readonly string[]): Promise<void> {
  // Waits until the control plane has run for 30 s: the last restart was a moment ago.
  expect(eventsOf(ok(await cluster.up('--json'))).filter(({ kind }) => kind === 'changed')).toEqual([]);
  await expectSettled(cluster, hosts);
  expect(await membersOf(cluster)).toEqual(hosts);
  expect((await etcdOf(cluster)).members.every(({ healthy, learner }) => healthy && !learner)).toBe(true);
}

function expectKept(what: string, { acknowledged, lost, longestGapMs }: Written): void {
  console.log(
    `${what}: the client wrote ${String(acknowledged)} times, the longest gap was ${String(longestGapMs)} ms`,
  );
  expect(acknowledged).toBeGreaterThan(0);
  expect(lost).toEqual([]);
}

test('the authority of etcd is replaced, also when kbuild is killed at every change, and a control plane joins in the middle', async () => {
  await lab.inside(cp, 'cp -a /etc/kubernetes/pki/etcd /run/old-etcd-pki');
  expect(await etcdAnswers('/run/old-etcd-pki')).toBe(true);
  const key = await keyOf(cp, 'etcd/ca.crt');
  const writer = startWriter(cluster.kubeconfig);
  const first = await killedAtChanges(rotation('etcd-ca', '--until', 'sign'));
  ok(first.last);
  await cluster.name([...CONTROL_PLANES, JOINED]);
  timed('a control plane joins in the middle', await cluster.up());
  expect(await membersOf(cluster)).toEqual(ALL);
  const then = await killedAtChanges(rotation('etcd-ca'));
  ok(then.last);
  expectKept(`etcd-ca, killed ${String(first.kills + then.kills)} times`, await writer.stop());
  const keys = await Promise.all(ALL.map((host) => keyOf(host, 'etcd/ca.crt')));
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).not.toBe(key);
  expect(await etcdAnswers('/etc/kubernetes/pki/etcd')).toBe(true);
  expect(await etcdAnswers('/run/old-etcd-pki')).toBe(false);
  await isWhole(ALL);
});

test('the authority of the front proxy is replaced', async () => {
  const key = await keyOf(cp, 'front-proxy-ca.crt');
  const writer = startWriter(cluster.kubeconfig);
  timed('the authority of the front proxy, 4 control planes', await kbuild(...rotation('front-proxy-ca')));
  expectKept('front-proxy-ca', await writer.stop());
  const keys = await Promise.all(ALL.map((host) => keyOf(host, 'front-proxy-ca.crt')));
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).not.toBe(key);
  await isWhole(ALL);
});

test('then a control plane and a worker can join', async () => {
  await expectJoins(cluster, ALL, LATER);
  expect(await membersOf(cluster)).toEqual([...ALL, LATER[0]!]);
});

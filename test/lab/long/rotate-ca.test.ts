/**
 * The CA of a cluster of three control planes and two workers is replaced by one with a new key, while a client writes through the
 * endpoint and a pod watches the API with the CA that it read when it started. kbuild is killed in each of the phases.
 */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { trustedBy } from '../authorities.ts';
import { kbuild } from '../kbuild.ts';
import { killedAtStep } from '../killed-at-step.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok, timed } from '../ok.ts';
import { nodes } from '../pods.ts';
import { startWatcher, watchedSoFar } from '../pod-watcher.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const CONTROL_PLANES = ['l1cp1', 'l1cp2', 'l1cp3'];
const JOINED = ['l1cp4', 'l1w3'];
const WORKERS = ['l1w1', 'l1w2'];
const HOSTS = [...CONTROL_PLANES, ...WORKERS];
const [JOINED_CP, JOINED_WORKER] = JOINED as [string, string];
const LATER = ['l1cp5', 'l1w4'];
const MINUTES_MS = 15 * 60_000;
const [cp] = CONTROL_PLANES as [string];
let cluster: Stacked;
let old: string;
let writer: ReturnType<typeof startWriter>;

const args = (): readonly string[] => [
  ...['certs', 'rotate-ca', '-i', cluster.file, '--yes', '--json', '--kubeconfig', cluster.kubeconfig],
];

/** kubectl on a control plane with another kubeconfig; what it says, whether it succeeds or not. */
async function asks(kubeconfig: string, ...flags: readonly string[]): Promise<string> {
  const { stdout, stderr } = await lab.inside(
    cp,
    `umask 077; cat >/run/other.conf; kubectl --kubeconfig /run/other.conf ${flags.join(' ')} get nodes -o name 2>&1; rm /run/other.conf`,
    readFileSync(kubeconfig, 'utf8'),
  );
  return `${stdout}${stderr}`;
}

beforeAll(async () => {
  await lab.up([...HOSTS, ...JOINED]);
  await lab.reset(JOINED);
  cluster = await stacked('l1rotate', 7482, HOSTS);
  ok(await cluster.up());
  old = join(cluster.file, '..', 'old.kubeconfig');
  copyFileSync(cluster.kubeconfig, old);
  await startWatcher(cp);
  writer = startWriter(cluster.kubeconfig);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, ...JOINED, ...LATER]);
});

/** Every node is Ready, those too whose kubelet was just restarted: what was begun on a host ends without kbuild. */
const areReady = (hosts: readonly string[]): Promise<true> =>
  waitUntil(`all of ${hosts.join(', ')} are Ready`, MINUTES_MS, async () => {
    const found = await nodes(cp);
    return hosts.every((name) => found[name] === true) && Object.keys(found).length === hosts.length;
  });

test.each([
  ['authority-prepared', 'l1cp2'],
  ['signing-apart', 'l1cp2'],
  ['both-trusted', 'l1cp2'],
  ['both-trusted', 'l1w1'],
  // Whichever control plane acts for the cluster.
  ['workloads-restarted', 'l1cp'],
  ['survivor-signs', 'l1cp2'],
])('kbuild is killed at %s of %s', async (step, host) => {
  await killedAtStep(args(), step, host);
  await areReady(HOSTS);
});

test('in the middle, a control plane and a worker join, and the old kubeconfig is accepted', async () => {
  expect((await trustedBy(cp))['ca.crt']).toMatch(/^kubernetes-\d{8}t\d{6}z kubernetes$/);
  await cluster.name([...HOSTS, ...JOINED]);
  timed('a control plane and a worker join in the middle', await cluster.up());
  await areReady([...HOSTS, ...JOINED]);
  expect(await membersOf(cluster)).toEqual([...CONTROL_PLANES, JOINED_CP]);
  for (const host of JOINED) expect((await trustedBy(host))['ca.crt']!.split(' ').sort()[0], host).toBe('kubernetes');
  expect(await asks(old, '--certificate-authority', '/etc/kubernetes/pki/ca.crt')).toContain(`node/${JOINED_WORKER}`);
  // It signs requests of kubelets as the others do: with a file that has one certificate.
  expect(
    (
      await lab.inside(
        JOINED_CP,
        'grep -c cluster-signing-cert-file=/etc/kubernetes/pki/ca-signing.crt /etc/kubernetes/manifests/*',
      )
    ).stdout,
  ).toContain('kube-controller-manager.yaml:1');
  expect(await asks(old, '--certificate-authority', '/etc/kubernetes/pki/ca.crt')).toContain('node/l1w1');
  const { code, stderr } = await cluster.run('upgrade', '--plan');
  expect(code).toBe(7);
  expect(stderr).toContain('while the authority ca is rotated (the new one signs)');
});

test.each([
  // kubeadm has written its kubeconfigs, and they know one authority.
  ['both-trusted', 'l1cp4'],
  ['kubelet-signed', 'l1w1'],
  ['only-one-trusted', 'l1cp2'],
  ['only-one-trusted', 'l1w2'],
  ['rotation-cleaned', 'l1cp2'],
])('kbuild is killed at %s of %s', async (step, host) => {
  await killedAtStep(args(), step, host);
  await areReady([...HOSTS, ...JOINED]);
});

test('the same command ends the rotation: no write is lost, and the old admin.conf gets 401', async () => {
  const ran = ok(await kbuild(...args()));
  const written = await writer.stop();
  const pods = await watchedSoFar(cp);
  console.log(
    `the last run took ${ran.seconds.toFixed(0)} s; the client wrote ${String(written.acknowledged)} times, the longest gap was ${String(written.longestGapMs)} ms; pods watched ${JSON.stringify(pods)}`,
  );
  expect(written.lost).toEqual([]);
  // Its Deployment was restarted, so that it knows both, and no pod of it was cut off for good.
  expect(Object.keys(pods).length).toBeGreaterThan(1);
  for (const { ok: times, failed } of Object.values(pods)) expect(failed).toBeLessThanOrEqual(Math.max(1, times));
  for (const host of [...HOSTS, ...JOINED])
    expect((await trustedBy(host))['ca.crt']).toMatch(/^kubernetes-\d{8}t\d{6}z$/);
  for (const host of [...CONTROL_PLANES, JOINED_CP])
    expect(
      (await lab.inside(host, 'ls /etc/kubernetes/pki; grep cluster-signing /etc/kubernetes/manifests/*')).stdout,
    ).not.toMatch(/ca-(?:old|new|signing)/);
  expect(await asks(old, '--certificate-authority', '/etc/kubernetes/pki/ca.crt')).toMatch(
    /Unauthorized|must be logged in/,
  );
  expect(await asks(cluster.kubeconfig)).toContain('node/l1w1');
});

test('the same command again says that the rotation has ended', async () => {
  const { stdout, stderr } = ok(await kbuild(...args()));
  expect(stderr).toContain('is from a rotation of ca that has ended');
  expect(stdout).not.toContain('"kind":"changed"');
});

test('then nothing is left to do, kubeadm agrees, and a control plane and a worker can join', async () => {
  await expectSettled(cluster, [...HOSTS, ...JOINED]);
  expect(await membersOf(cluster)).toEqual([...CONTROL_PLANES, JOINED_CP]);
  await expectJoins(cluster, [...HOSTS, ...JOINED], LATER);
});

/**
 * The CA of a cluster of three control planes and two workers is replaced by one with a new key, while a client writes through the
 * endpoint and a pod watches the API with the CA that it read when it started. kbuild is killed in each of the phases.
 */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { trustedBy } from '../authorities.ts';
import { start, kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok } from '../ok.ts';
import { nodes } from '../pods.ts';
import { startWatcher, watchedSoFar } from '../pod-watcher.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const CONTROL_PLANES = ['l1cp1', 'l1cp2', 'l1cp3'];
const WORKERS = ['l1w1', 'l1w2'];
const HOSTS = [...CONTROL_PLANES, ...WORKERS];
const IN_THE_MIDDLE = 'l1w3';
const LATER = ['l1cp4', 'l1w4'];
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
  await lab.up([...HOSTS, IN_THE_MIDDLE]);
  await lab.reset([IN_THE_MIDDLE]);
  cluster = await stacked('l1rotate', 7482, HOSTS);
  ok(await cluster.up());
  old = join(cluster.file, '..', 'old.kubeconfig');
  copyFileSync(cluster.kubeconfig, old);
  await startWatcher(cp);
  writer = startWriter(cluster.kubeconfig);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, IN_THE_MIDDLE, ...LATER]);
});

/** Every node is Ready, those too whose kubelet was just restarted: what was begun on a host ends without kbuild. */
const areReady = (hosts: readonly string[]): Promise<true> =>
  waitUntil(`all of ${hosts.join(', ')} are Ready`, MINUTES_MS, async () => {
    const found = await nodes(cp);
    return hosts.every((name) => found[name] === true) && Object.keys(found).length === hosts.length;
  });

/** Runs the command until it begins this step on this host, and kills it there. */
async function killedAt(step: string, host = ''): Promise<void> {
  const running = start(args());
  let ended = false;
  const over = (): void => void (ended = true);
  void running.ended.then(over, over);
  const isThere = (): boolean =>
    running
      .printed()
      .split('\n')
      .some(
        (line) =>
          line.includes('"kind":"changing"') && line.includes(`"step":"${step}"`) && line.includes(`"host":"${host}`),
      );
  await waitUntil(`${host} is at ${step}`, MINUTES_MS, () => isThere() || ended);
  expect(isThere(), `${running.printed().slice(-3000)}\n${running.said()}`).toBe(true);
  running.kill('SIGKILL');
  await running.ended;
}

test.each([
  ['authority-prepared', 'l1cp2'],
  ['signing-apart', 'l1cp2'],
  ['both-trusted', 'l1cp2'],
  ['both-trusted', 'l1w1'],
  // Whichever control plane acts for the cluster.
  ['workloads-restarted', 'l1cp'],
  ['survivor-signs', 'l1cp2'],
])('kbuild is killed at %s of %s', async (step, host) => {
  await killedAt(step, host);
  await areReady(HOSTS);
});

test('in the middle, a worker joins, a control plane is told to wait, and the old kubeconfig is accepted', async () => {
  expect((await trustedBy(cp))['ca.crt']).toMatch(/^kubernetes-\d{8}t\d{6}z kubernetes$/);
  await cluster.name([...HOSTS, IN_THE_MIDDLE]);
  ok(await cluster.up());
  expect((await nodes(cp))[IN_THE_MIDDLE]).toBe(true);
  expect((await trustedBy(IN_THE_MIDDLE))['ca.crt']!.split(' ').sort()[0]).toBe('kubernetes');
  expect(await asks(old, '--certificate-authority', '/etc/kubernetes/pki/ca.crt')).toContain('node/l1w1');
  const { code, stderr } = await cluster.run('upgrade', '--plan');
  expect(code).toBe(7);
  expect(stderr).toContain('while the authority ca is rotated (the new one signs)');
});

test.each([
  ['kubelet-signed', 'l1w1'],
  ['only-one-trusted', 'l1cp2'],
  ['only-one-trusted', 'l1w2'],
  ['rotation-cleaned', 'l1cp2'],
])('kbuild is killed at %s of %s', async (step, host) => {
  await killedAt(step, host);
  await areReady([...HOSTS, IN_THE_MIDDLE]);
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
  for (const host of [...HOSTS, IN_THE_MIDDLE])
    expect((await trustedBy(host))['ca.crt']).toMatch(/^kubernetes-\d{8}t\d{6}z$/);
  for (const host of CONTROL_PLANES)
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
  await expectSettled(cluster, [...HOSTS, IN_THE_MIDDLE]);
  expect(await membersOf(cluster)).toEqual(CONTROL_PLANES);
  await expectJoins(cluster, [...HOSTS, IN_THE_MIDDLE], LATER);
});

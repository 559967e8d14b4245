/**
 * The key that signs service account tokens is replaced on one control plane and one worker, while a pod uses its token all the time.
 * kbuild is killed while the new key takes over, and a control plane joins then.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { kbuild } from '../kbuild.ts';
import { killedAtStep } from '../killed-at-step.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { startWatcher, watchedSoFar } from '../pod-watcher.ts';
import { kubectl, nodes } from '../pods.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['rskcp1', 'rskw1'];
const JOINS = 'rskcp2';
const LATER = ['rskcp3', 'rskw2'];
const CONTROLS = ['rskcp1', 'rskcp2', 'rskcp3'];
const [cp] = HOSTS as [string];
const PKI = '/etc/kubernetes/pki';
const MINUTES_MS = 15 * 60_000;
let cluster: Stacked;
/** A token that the old key signed, for eight hours. */
let old: string;
let writer: ReturnType<typeof startWriter>;

const args = (): readonly string[] => [
  ...['certs', 'rotate-ca', 'sa', '-i', cluster.file, '--yes', '--kubeconfig', cluster.kubeconfig],
];

/** What the API answers to a token: the status. */
const answerTo = async (token: string): Promise<string> =>
  (
    await lab.inside(
      cp,
      `read -r token; curl -sk -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" https://127.0.0.1:6443/api`,
      `${token}\n`,
    )
  ).stdout;

/** Hashes of a file on hosts. */
const sums = (hosts: readonly string[], file: string): Promise<readonly string[]> =>
  Promise.all(hosts.map(async (host) => (await lab.inside(host, `sha256sum <${PKI}/${file}`)).stdout.trim()));

const keysIn = async (host: string): Promise<number> =>
  Number((await lab.inside(host, `grep -c BEGIN ${PKI}/sa.pub`)).stdout.trim());

const secretToken = async (): Promise<string> =>
  Buffer.from(await kubectl(cp, "-n default get secret legacy -o jsonpath='{.data.token}'"), 'base64').toString();

/** How often the tokens of the pods that are there now were refused. Those of a deleted pod are, until its process has ended. */
async function refusals(): Promise<number> {
  const there = (await kubectl(cp, '-n default get pods -l app=watched -o name')).split(/\s+/);
  const seen = await watchedSoFar(cp);
  return there.reduce((sum, pod) => sum + (seen[pod.replace('pod/', '')]?.refused ?? 0), 0);
}

beforeAll(async () => {
  await lab.up([...HOSTS, JOINS]);
  await lab.reset([JOINS]);
  cluster = await stacked('rsakey', 7484, HOSTS);
  ok(await cluster.up());
  old = (await kubectl(cp, '-n default create token default --duration 8h')).trim();
  const legacy = {
    ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/service-account-token' },
    metadata: {
      name: 'legacy',
      namespace: 'default',
      annotations: { 'kubernetes.io/service-account.name': 'default' },
    },
  };
  await kubectl(cp, 'apply -f -', JSON.stringify(legacy));
  await waitUntil('the Secret has its token', MINUTES_MS, async () => (await secretToken()) !== '');
  await startWatcher(cp);
  writer = startWriter(cluster.kubeconfig);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, JOINS, ...LATER]);
});

test('the plan names the Secret whose token nothing renews, and changes nothing', async () => {
  const before = await sums([cp], 'sa.pub');
  const { stdout } = ok(await kbuild(...args(), '--plan'));
  expect(stdout).toContain('keep a new key of service accounts beside the old one on rskcp1');
  expect(stdout).toContain('sign service account tokens with the new key on rskcp1');
  expect(stdout).toMatch(/must be signed again before: default\/legacy\)/);
  expect(await sums([cp], 'sa.pub')).toEqual(before);
  expect(await answerTo(old)).toBe('200');
});

test('kbuild is killed while the new key takes over', async () => {
  await killedAtStep([...args(), '--json'], 'survivor-signs');
  expect(await keysIn(cp)).toBe(2);
});

test('in the middle, a control plane joins, and tokens of both keys are accepted', async () => {
  await cluster.name([...HOSTS, JOINS]);
  ok(await cluster.up());
  expect((await nodes(cp))[JOINS]).toBe(true);
  expect(await keysIn(JOINS)).toBe(2);
  const young = (await kubectl(cp, '-n default create token default --duration 8h')).trim();
  expect([await answerTo(old), await answerTo(young)]).toEqual(['200', '200']);
});

test('the old key does not go while a Secret holds a token of it', async () => {
  const before = await secretToken();
  const { code, stderr, seconds } = await kbuild(...args());
  console.log(`what was left until the old key would go, workloads restarted: ${seconds.toFixed(0)} s`);
  expect(code, stderr).toBe(7);
  expect(stderr).toContain('which the API would no longer accept: default/legacy');
  expect(await keysIn(cp)).toBe(2);
  // As docs/operations.md says.
  await kubectl(cp, `-n default patch secret legacy --type json -p '[{"op":"remove","path":"/data/token"}]'`);
  await waitUntil('the Secret has a token of the new key', MINUTES_MS, async () => {
    const now = await secretToken();
    return now !== '' && now !== before;
  });
  expect(await answerTo(await secretToken())).toBe('200');
});

test('the same command ends it: the old token gets 401, and the pod was never refused', async () => {
  timed('the old key goes from two control planes', await kbuild(...args()));
  const written = await writer.stop();
  const pods = await watchedSoFar(cp);
  console.log(
    `the client wrote ${String(written.acknowledged)} times, the longest gap was ${String(written.longestGapMs)} ms; pods watched ${JSON.stringify(pods)}`,
  );
  expect(written.lost).toEqual([]);
  expect(Object.keys(pods).length).toBeGreaterThan(1);
  for (const { ok: times } of Object.values(pods)) expect(times).toBeGreaterThan(0);
  expect(await refusals()).toBe(0);
  expect(await answerTo(old)).toBe('401');
  expect(await answerTo(await secretToken())).toBe('200');
  const controls = [cp, JOINS];
  expect(await Promise.all(controls.map(keysIn))).toEqual([1, 1]);
  for (const file of ['sa.pub', 'sa.key']) expect(new Set(await sums(controls, file)).size).toBe(1);
  for (const host of controls)
    expect((await lab.inside(host, `ls ${PKI}`)).stdout).not.toMatch(/sa-(?:old|new|signing)/);
});

test('the same command again says that it has ended', async () => {
  const { stderr } = ok(await kbuild(...args()));
  expect(stderr).toContain('is from a rotation of sa that has ended');
});

test('then nothing is left to do, kubeadm agrees, and pods and nodes are well', async () => {
  await expectSettled(cluster, [...HOSTS, JOINS]);
  const { code, stderr } = await kbuild('status', cluster.file);
  expect(code, stderr).toBe(0);
});

test('afterwards a control plane and a worker can join', async () => {
  await expectJoins(cluster, [...HOSTS, JOINS], LATER);
  expect(await Promise.all(CONTROLS.map(keysIn))).toEqual([1, 1, 1]);
});

// By now the kubelet waits minutes before it starts an API server again that has ended so often.
test('another one is taken back from where the new key signs', async () => {
  const before = await sums(CONTROLS, 'sa.key');
  timed('the next new key signs on 3 control planes', await kbuild(...args(), '--again', '--until', 'sign'));
  const young = (await kubectl(cp, '-n default create token default --duration 8h')).trim();
  expect(await sums(CONTROLS, 'sa.key')).not.toEqual(before);
  timed('taken back', await kbuild(...args(), '--rollback'));
  expect(await sums(CONTROLS, 'sa.key')).toEqual(before);
  expect(await Promise.all(CONTROLS.map(keysIn))).toEqual([1, 1, 1]);
  expect([await answerTo(young), await answerTo(await secretToken())]).toEqual(['401', '200']);
  expect(await refusals()).toBe(0);
  unchanged(await cluster.up());
});

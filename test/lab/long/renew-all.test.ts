/**
 * `certs renew --all` on two control planes: kbuild is killed in the middle of each host's job, between the hosts, and at the last change. The
 * administrator's kubeconfig works all the time, and is the renewed one in the end. The tests build on each other.
 */
import { X509Certificate } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startWriter } from '../api-writer.ts';
import { kbuild, start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { happened } from '../midway.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { signOld } from '../old-certificate.ts';
import { makeAuthority, type KeyPair } from '../openssl.ts';
import { ageKubeconfig } from '../signer.ts';
import { stacked, type Stacked } from '../stacked.ts';

const HOSTS = ['racp1', 'racp2'];
const LATER = ['racp3', 'raw1'];
const [cp1, cp2] = HOSTS as [string, string];
const STEP = 'control-plane-certificates';
const DAY_MS = 86_400_000;
let cluster: Stacked;
let mine: KeyPair;
let settings: object;

const renew = (...what: readonly string[]): readonly string[] => [
  ...['certs', 'renew', ...what, '-i', cluster.file, '--yes', '--json', '--kubeconfig', cluster.kubeconfig],
];

/** The certificate in the administrator's kubeconfig on this machine. */
function administrator(): X509Certificate {
  const { users } = parse(readFileSync(cluster.kubeconfig, 'utf8')) as {
    readonly users: readonly { readonly user: { readonly 'client-certificate-data': string } }[];
  };
  return new X509Certificate(Buffer.from(users[0]!.user['client-certificate-data'], 'base64'));
}

/** Serial numbers of what kbuild renews, by host and name. */
async function serials(): Promise<ReadonlyMap<string, string>> {
  const { certificates } = JSON.parse(ok(await cluster.run('certs', '--json')).stdout) as {
    readonly certificates: readonly Readonly<Record<'host' | 'name' | 'serial' | 'renewedBy', string>>[];
  };
  const ours = certificates.filter(({ renewedBy }) => renewedBy === 'kbuild');
  return new Map(ours.map(({ host, name, serial }) => [`${host} ${name}`, serial]));
}

/** Nothing is left to do or lies about, kubeadm agrees, and all nodes are Ready. */
async function isWhole(): Promise<void> {
  unchanged(await cluster.up());
  for (const host of HOSTS) {
    const { stdout } = await lab.inside(host, 'ls -d /run/kbuild/renewal; find /etc/kubernetes -name "*.kbuild-new"');
    expect(stdout).toBe('');
  }
  await expectSettled(cluster, HOSTS);
}

beforeAll(async () => {
  mine = await makeAuthority(mkdtempSync(join(tmpdir(), 'kbuild-renew-all-')), 'the-users-own');
  settings = { certificates: { distribution: 'copy', ca: { cert: mine.cert, key: `file:${mine.key}` } } };
  cluster = await stacked('renewall', 7489, HOSTS, settings);
  timed('up', await cluster.up());
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, ...LATER]);
});

test('`certs renew --all` that is killed in each job and after each change renews all when it is run again', async () => {
  const before = await serials();
  const writer = startWriter(cluster.kubeconfig);
  const from = performance.now();
  for (const [kind, host] of [
    ['changing', cp1],
    ['changed', cp1],
    ['changing', cp2],
    ['changed', cp2],
  ] as const) {
    const running = start(renew('--all'));
    await happened(running, kind, host, STEP);
    running.kill('SIGKILL');
    const { code } = await running.ended;
    console.log(`killed when ${host} was ${kind}, exit ${String(code)}`);
    const { code: answers, stderr } = await kbuild('status', cluster.file);
    expect(answers, stderr).toBe(0);
  }
  timed('the run that was not killed', await kbuild(...renew('--all')));
  console.log(`four kills, and that run: ${((performance.now() - from) / 1000).toFixed(0)} s`);
  const { acknowledged, lost, longestGapMs } = await writer.stop();
  console.log(`${String(acknowledged)} writes acknowledged, longest gap ${String(longestGapMs)} ms`);
  expect(lost).toEqual([]);
  const after = await serials();
  expect([...after.keys()].toSorted()).toEqual([...before.keys()].toSorted());
  for (const [name, serial] of before) expect(after.get(name), name).not.toBe(serial);
  expect(ok(await kbuild('kubeconfig', cluster.file)).stdout).toBe(readFileSync(cluster.kubeconfig, 'utf8'));
  await isWhole();
});

test('killed before it wrote the kubeconfig that ends soon, `certs renew` writes it when it is run again, and `up` does', async () => {
  const old = { old: (request: string, days: number) => signOld(mine, request, days) };
  for (const host of HOSTS) await ageKubeconfig(old, host, 'admin.conf', 10);
  writeFileSync(cluster.kubeconfig, ok(await kbuild('kubeconfig', cluster.file)).stdout);
  const ending = join(cluster.file, '..', 'ending.kubeconfig');
  copyFileSync(cluster.kubeconfig, ending);
  expect(Date.parse(administrator().validTo)).toBeLessThan(Date.now() + 11 * DAY_MS);
  const running = start(renew());
  await happened(running, 'changed', cp2, STEP);
  running.kill('SIGKILL');
  await running.ended;
  for (const args of [renew(), ['up', cluster.file, '--yes', '--kubeconfig', cluster.kubeconfig]]) {
    copyFileSync(ending, cluster.kubeconfig);
    ok(await kbuild(...args));
    expect(Date.parse(administrator().validTo)).toBeGreaterThan(Date.now() + 300 * DAY_MS);
  }
  await isWhole();
});

test('afterwards a control plane and a worker can join', async () => {
  await expectJoins(cluster, HOSTS, LATER, settings);
});

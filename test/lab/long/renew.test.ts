/**
 * Certificates are renewed, and named anew, with kills in the middle: of kbuild at every change and while a job runs, of the job, and of
 * the host. Then hosts join. Before: the API by `kbuild proxy`, which loses a host. The tests build on each other.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killedAtChanges } from '../killed-at-changes.ts';
import { start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok } from '../ok.ts';
import { signOld } from '../old-certificate.ts';
import { makeAuthority, type KeyPair } from '../openssl.ts';
import { reported } from '../reported.ts';
import { attempt } from '../run.ts';
import { ageApiServer, ageKubeconfig } from '../signer.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';
import { expectWholeFiles, firstPlaced } from '../whole-files.ts';

const HOSTS = ['rncp1', 'rncp2'];
const LATER = ['rncp3', 'rnw1'];
const [cp1, cp2] = HOSTS as [string, string];
const FIVE_MINUTES = 5 * 60_000;
let cluster: Stacked;
let mine: KeyPair;
let folder: string;
let settings: object;

const up = (): readonly string[] => ['up', cluster.file, '--yes', '--kubeconfig', cluster.kubeconfig];
const renew = (...names: readonly string[]): readonly string[] => [
  ...['certs', 'renew', ...names, '-i', cluster.file, '--yes', '--json', '--kubeconfig', cluster.kubeconfig],
];
const inside = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();

/** The API server's certificate of a host, and two of its kubeconfigs, have ten days left. */
async function age(host: string): Promise<void> {
  const old = { old: (request: string, days: number) => signOld(mine, request, days) };
  await ageApiServer(old, host, 10);
  for (const name of ['scheduler.conf', 'controller-manager.conf']) await ageKubeconfig(old, host, name, 10);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-renew-'));
  mine = await makeAuthority(folder, 'the-users-own');
  settings = { certificates: { distribution: 'copy', ca: { cert: mine.cert, key: `file:${mine.key}` } } };
  cluster = await stacked('renewed', 7467, HOSTS, settings);
  ok(await cluster.up());
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, ...LATER]);
});

test('`kbuild proxy` goes on by another control plane where the first is reached no more', async () => {
  const proxy = start(['proxy', cluster.file]);
  await expect.poll(proxy.printed, { timeout: 60_000 }).toContain('export KUBECONFIG=');
  const path = /'(.*)'/.exec(proxy.printed())![1]!;
  const nodes = () => attempt('kubectl', ['get', 'nodes', '-o', 'name'], { env: { ...process.env, KUBECONFIG: path } });
  const all = HOSTS.map((name) => `node/${name}\n`).join('');
  expect((await nodes()).stdout).toBe(all);
  await inside(cp1, 'systemctl stop ssh.socket ssh; pkill -x sshd');
  try {
    await waitUntil('the API by the other control plane', 120_000, async () => (await nodes()).stdout === all);
  } finally {
    await inside(cp1, 'systemctl start ssh');
    proxy.kill('SIGINT');
  }
  expect((await proxy.ended).code).toBe(130);
});

test('`certs renew` that is killed while its job runs is run again, and does not meet the first job', async () => {
  for (const afterMs of [0, 1500]) {
    const first = start(renew('scheduler.conf', 'controller-manager.conf', 'front-proxy-client'));
    await reported(first, 'a renewal', FIVE_MINUTES, ({ kind }) => kind === 'changing');
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    first.kill('SIGKILL');
    await first.ended;
    ok(await start(renew('scheduler.conf', 'controller-manager.conf', 'front-proxy-client')).ended);
    await expectWholeFiles(HOSTS);
  }
  await expectSettled(cluster, HOSTS);
});

test('`up` that is killed at every change renews what ends soon, each once', async () => {
  for (const host of HOSTS) await age(host);
  const { last, kills, made } = await killedAtChanges(up());
  ok(last);
  expect(kills).toBeGreaterThan(0);
  expect(made.filter((line) => line.includes('renew certificates'))).toHaveLength(2);
  expect(made).toEqual([...new Set(made)]);
  await expectWholeFiles(HOSTS);
  await expectSettled(cluster, HOSTS);
});

test('a job that is killed when it has placed its first file is made up for by the next `up`', async () => {
  await age(cp2);
  const seen = firstPlaced(cp2, "systemctl kill --signal=KILL 'kbuild-job-renew-certificates*'");
  const ran = await start([...up(), '--json']).ended;
  await seen;
  expect(ran.code).not.toBe(0);
  ok(await cluster.up());
  await expectWholeFiles(HOSTS);
  await expectSettled(cluster, HOSTS);
});

test('so is a host that loses its power then', async () => {
  await age(cp2);
  const seen = firstPlaced(cp2, 'sleep 0.1');
  const running = start(up());
  await seen;
  await lab.kill([cp2]);
  running.kill('SIGKILL');
  await running.ended;
  await lab.start([cp2]);
  ok(await cluster.up());
  await expectWholeFiles(HOSTS);
  await expectSettled(cluster, HOSTS);
});

test('names of the API servers that are edited are in their certificates, also when kbuild is killed at every change', async () => {
  const { kubeadm } = (await lab.inventory(HOSTS)) as unknown as { readonly kubeadm: object };
  settings = {
    ...settings,
    kubeadm: { ...kubeadm, cluster: { apiServer: { certSANs: ['api.example.org'] } } },
  };
  await cluster.name(HOSTS, settings);
  const { last, kills, made } = await killedAtChanges(up());
  ok(last);
  expect(kills).toBeGreaterThan(1);
  expect(made).toEqual([...new Set(made)]);
  for (const host of HOSTS)
    expect(
      await inside(
        cp1,
        `echo | timeout 5 openssl s_client -connect ${lab.hostSettings(host).address}:6443 2>/dev/null | openssl x509 -noout -ext subjectAltName`,
      ),
    ).toContain('DNS:api.example.org');
  await expectWholeFiles(HOSTS);
  await expectSettled(cluster, HOSTS);
});

test('afterwards a control plane and a worker can join', async () => {
  await expectJoins(cluster, HOSTS, LATER, settings);
});

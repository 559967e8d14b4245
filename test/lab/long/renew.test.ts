/**
 * Certificates are renewed, and named anew, with kills in the middle: of kbuild at every change and while a job runs, of the job, and of
 * the host. Then hosts join. Before: the API by `kubectl proxy`, as the docs have it. The tests build on each other.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
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
import { attempt, run } from '../run.ts';
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

/** The commands of a page's section: the first block of code after its heading. */
function commandsOf(page: string, heading: string): readonly string[] {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
  const after = text.slice(text.indexOf(`\n### ${heading}\n`));
  const from = after.indexOf('```sh\n') + '```sh\n'.length;
  return after.slice(from, after.indexOf('\n```', from)).replaceAll('\\\n', '').split('\n');
}

test('`kubectl proxy` behind SSH gives the API to a machine without certificates, and ends with the connection', async () => {
  const [open, use] = commandsOf('operations.md', 'The API without a certificate on your machine') as [string, string];
  // The page's commands as they stand; ssh is told the lab's keys and where cp1 is.
  const [options, where] = [lab.sshArguments(cp1).slice(0, -1), lab.sshArguments(cp1).at(-1)!];
  const kubectl = join(folder, 'kubectl');
  const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');
  await run('bash', ['-c', `ssh ${quoted([...options, where])} 'cat "$(command -v kubectl)"' > '${kubectl}'`]);
  chmodSync(kubectl, 0o755);
  const shim = join(folder, 'ssh');
  writeFileSync(shim, `#!/bin/sh\nexec /usr/bin/ssh ${quoted(options)} "$@"\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}`, KUBECONFIG: '/dev/null' };
  const opened = spawn('sh', ['-c', `exec ${open.replace('root@cp1', where)}`], { stdio: 'ignore', env });
  const proxies = (): Promise<string> => inside(cp1, 'pgrep -f "^kubectl.* proxy " || true');
  try {
    const told = await waitUntil('the API behind the proxy', 60_000, async () => {
      const ran = await attempt('sh', ['-c', use], { env: { PATH: env.PATH, KUBECONFIG: '/dev/null' } });
      return ran.code === 0 && ran.stdout;
    });
    for (const host of HOSTS) expect(told).toMatch(new RegExp(`^${host} +Ready`, 'm'));
    expect(await inside(cp1, 'stat -c "%a %U" /run/kubectl-proxy.sock')).toBe('700 root');
    expect(await proxies()).not.toBe('');
  } finally {
    opened.kill('SIGKILL');
  }
  await waitUntil('the proxy to end with the connection', 60_000, async () => (await proxies()) === '');
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

/**
 * `npm run demo` with containers of Debian's own Docker: images, packages and programs come from the lab's servers, and the base image
 * is the lab's own tree, because no real site can be reached from a test.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { buildAll } from '../build-all.ts';
import { type DockerDaemon, startDocker } from '../docker-daemon.ts';
import { inventory } from '../inventory.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { unchanged } from '../ok.ts';
import { run } from '../run.ts';
import { waitUntil } from '../wait-until.ts';

const ROOT = join(import.meta.dirname, '../../..');
const BASE = 'lab-debian:12';
const HALF_AN_HOUR = 30 * 60_000;
const folder = mkdtempSync(join(tmpdir(), 'kbuild-demo-'));
const state = join(folder, 'kbuild-demo');
/** A setting of the machine's kernel that systemd of a host may raise, and no kubelet: hosts of other tests may run meanwhile. */
const OPEN_FILES = '/proc/sys/fs/nr_open';
const openFiles = readFileSync(OPEN_FILES, 'utf8');
/** What is the machine's own and must be as before; the lab's own rules come and go with other tests. */
const machineNow = async (): Promise<object> => ({
  rules: (await run('iptables', ['-S'])).split('\n').filter((rule) => !rule.includes('kbuild-lab')),
  forward: readFileSync('/proc/sys/net/ipv4/ip_forward', 'utf8'),
  openFiles: readFileSync(OPEN_FILES, 'utf8'),
});
let daemon: DockerDaemon;
let before: object;

interface Demo {
  readonly child: ChildProcess;
  readonly said: () => string;
  readonly ended: Promise<number | null>;
}

/** The demo as a user starts it, in a process group of its own, as on a terminal. */
function demo(...args: readonly string[]): Demo {
  const child = spawn('npm', ['run', '--silent', 'demo', '--', ...args], {
    ...{ cwd: ROOT, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { ...process.env, ...daemon.env, XDG_STATE_HOME: folder, VITEST: undefined },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  // As a shell tells it: npm itself ends by the signal.
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', (code, signal) => resolve(signal === 'SIGINT' ? 130 : code));
  });
  return { child, said: () => text, ended };
}

const wanted = ['--with', 'docker', '--base', BASE, '--settings', join(folder, 'lab.yaml')] as const;
const names = async (): Promise<readonly string[]> =>
  (await daemon.docker('ps', '--all', '--format', '{{.Names}}')).trim().split('\n').toSorted();

/** What the API server at the published port says to the holder of the kubeconfig. */
function askApi(path: string): Promise<string> {
  const file = parse(readFileSync(join(state, 'local.kubeconfig'), 'utf8')) as {
    clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
    users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
  };
  const [{ cluster }, { user }] = [file.clusters[0]!, file.users[0]!];
  const decoded = (text: string): string => Buffer.from(text, 'base64').toString();
  const options = {
    ca: decoded(cluster['certificate-authority-data']),
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  };
  return new Promise((resolve, reject) => {
    request(`${cluster.server}${path}`, options, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString())).on('end', () => resolve(text));
    })
      .on('error', reject)
      .end();
  });
}

beforeAll(async () => {
  // Its servers, and no host.
  await lab.up([]);
  before = await machineNow();
  daemon = await startDocker();
  await daemon.importTree(join((await buildAll()).base('bookworm'), 'tree'), BASE);
  const { kubernetes, runtime, ignoreChecks } = await inventory([]);
  const settings = { kubernetes, runtime, ignoreChecks: [...(ignoreChecks as string[]), 'product-uuid'] };
  writeFileSync(join(folder, 'lab.yaml'), stringify(settings, { aliasDuplicateObjects: false }));
  await daemon.docker('run', '-d', '--name', 'mine', '--label', 'mine', BASE, 'sleep', 'infinity');
}, HALF_AN_HOUR);
afterAll(async () => {
  await daemon.stop();
  rmSync(folder, { recursive: true });
  const after = await machineNow();
  writeFileSync(OPEN_FILES, openFiles);
  expect(after).toEqual(before);
});

test('three containers become a cluster of three Ready nodes', { timeout: HALF_AN_HOUR }, async () => {
  const from = performance.now();
  const one = demo(...wanted);
  expect(await one.ended, one.said()).toBe(0);
  console.log(`npm run demo with Docker: ${((performance.now() - from) / 1000).toFixed(1)} s`);
  const shown = one.said().slice(one.said().indexOf('$ kubectl get nodes'));
  for (const host of ['demo-cp1', 'demo-w1', 'demo-w2']) expect(shown).toMatch(new RegExp(`^${host} +Ready `, 'm'));
  expect(shown).toMatch(/a pod on demo-w\d asked a Service; the pod on demo-\S+ answered: echo-/);
  expect(await names()).toEqual(['kbuild-demo-cp1', 'kbuild-demo-w1', 'kbuild-demo-w2', 'mine']);
});

test('its kubeconfig reaches the API server at a port of this machine', { timeout: HALF_AN_HOUR }, async () => {
  expect(JSON.parse(await askApi('/version'))).toMatchObject({ major: '1' });
  const { items } = JSON.parse(await askApi('/api/v1/nodes')) as { items: object[] };
  expect(items).toHaveLength(3);
});

test('kbuild finds nothing more to do with the inventory of the demo', { timeout: HALF_AN_HOUR }, async () => {
  unchanged(await kbuild('up', join(state, 'demo.yaml'), '--yes', '--kubeconfig', join(state, 'demo.kubeconfig')));
});

test('a second demo does not touch the first', { timeout: HALF_AN_HOUR }, async () => {
  const second = demo(...wanted);
  expect(await second.ended).toBe(2);
  expect(second.said()).toContain('docker has containers of a demo already: end it with npm run demo -- --down');
  expect(await names()).toHaveLength(4);
});

test('--down removes what the demo made, and nothing else', { timeout: HALF_AN_HOUR }, async () => {
  writeFileSync(OPEN_FILES, String(Number(openFiles) + 64));
  const down = demo('--down');
  expect(await down.ended, down.said()).toBe(0);
  expect(await names()).toEqual(['mine']);
  expect(await daemon.docker('volume', 'ls', '-q')).toBe('');
  expect(existsSync(state)).toBe(false);
  // The kernel's setting, too.
  expect(await machineNow()).toEqual(before);
});

test('Ctrl-C in the middle of a build removes what was made', { timeout: HALF_AN_HOUR }, async () => {
  const stopped = demo(...wanted);
  await waitUntil('kbuild changes something', HALF_AN_HOUR, () => stopped.said().includes('== Prepare hosts'));
  process.kill(-stopped.child.pid!, 'SIGINT');
  expect(await stopped.ended, stopped.said()).toBe(130);
  expect(stopped.said()).toContain('docker: removes the containers of this demo');
  expect(await names()).toEqual(['mine']);
  expect(await daemon.docker('volume', 'ls', '-q')).toBe('');
});

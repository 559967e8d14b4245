// @module-tag linux
/**
 * How many round trips the program as it is built waits for until a host and its cluster are observed, counted without a
 * clock. A quiet machine counts most: on a busy one, what the program says at two moments often goes in one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { capturedCluster, ownFrames } from '../fakes/cluster-server.ts';
import { type FakeAnswer, fakeHttpsServer } from '../fakes/https-server.ts';
import { type FakeCommand, fakeSshServer } from '../fakes/ssh-server.ts';
import { lineClock } from './line-clock.ts';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'kbuild-round-trips-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The traces of a control plane, as its probe prints them. */
const TRACES = ['/etc/kubernetes/admin.conf', '/etc/kubernetes/pki/ca.crt', '/etc/kubernetes/manifests/etcd.yaml'];

/** Answers the facts that decide where the cluster is observed, and what a control plane tells of itself; nothing else. */
const host =
  (traces: readonly string[]) =>
  async ({ channel, stdin }: FakeCommand): Promise<void> => {
    const script = await stdin();
    const begun = /^echo (\w+); echo \1 >&2$/m.exec(script)![1]!;
    const word = /^NONCE=(\w+)$/m.exec(script)?.[1] ?? '';
    const facts = { lockUsed: 'never', kubernetesTraces: traces.join('\n') };
    const frames = Object.entries(facts).map(([name, text]) => `NONCE:begin:${name}\n${text}\nNONCE:end:${name}:0\n`);
    const own = traces.length === 0 ? '' : ownFrames().stdout;
    channel.stderr.write(`${begun}\n`);
    channel.write(`${begun}\n${`${frames.join('')}${own}`.replaceAll('NONCE', word)}`);
    channel.exit(0);
    channel.end();
  };

/** The captured cluster, without tokens to join by: most clusters have none for most of the time. */
const cluster = (request: string): FakeAnswer =>
  request.includes('bootstrap.kubernetes.io') ? { body: '{"items":[]}' } : capturedCluster(request);

/**
 * Whole round trips until the program reports that it has observed; it is ended then. It may have begun to take its leave before it
 * reports.
 */
async function tripsOf(args: readonly string[], traces: readonly string[]): Promise<number> {
  const https = await fakeHttpsServer(cluster);
  // A bare host has no API server: nothing listens there.
  const ssh = await fakeSshServer(host(traces), { forward: () => (traces.length === 0 ? false : https.port) });
  const line = await lineClock(ssh.port);
  const known = join(folder, 'known_hosts');
  writeFileSync(known, readFileSync(ssh.knownHosts, 'utf8').replaceAll(/:\d+ /g, `:${String(line.port)} `));
  const inventory = join(folder, 'inventory.yaml');
  const login = { user: 'root', port: line.port, identityFile: ssh.host.ssh.identityFiles![0]!, knownHostsFile: known };
  const hosts = [{ name: 'cp1', address: '127.0.0.1', internalAddress: '10.77.0.13', role: 'control-plane' }];
  writeFileSync(inventory, JSON.stringify({ name: 'prod', kubernetes: { version: '1.36.3' }, ssh: login, hosts }));
  const child = spawn(process.execPath, [program, ...args, '-i', inventory], {
    env: { HOME: folder, PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  line.follow(child.pid!);
  try {
    let text = '';
    let trips: number | undefined;
    const add = (chunk: Buffer): void => {
      text += chunk.toString();
      // The line moves on only when this was read.
      if (text.includes('observed 1 host')) trips ??= line.trips();
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    while (trips === undefined && child.exitCode === null)
      await Promise.race([once(child.stderr, 'data'), once(child, 'exit')]);
    if (trips === undefined) throw new Error(text);
    return Math.floor(trips);
  } finally {
    child.kill();
    line.close();
    await Promise.all([ssh.stop(), https.stop()]);
  }
}

test('a plan of a bare host', async () => {
  expect(await tripsOf(['plan'], [])).toBeLessThanOrEqual(7);
});

test('a plan of a cluster', async () => {
  expect(await tripsOf(['plan'], TRACES)).toBeLessThanOrEqual(9);
});

test('a status of a cluster', async () => {
  expect(await tripsOf(['status'], TRACES)).toBeLessThanOrEqual(9);
});

test('a status through the API alone', async () => {
  expect(await tripsOf(['status', '--no-hosts'], TRACES)).toBeLessThanOrEqual(9);
});

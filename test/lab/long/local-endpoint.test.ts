/**
 * A cluster without a virtual address: haproxy of every node is its endpoint. A client writes through that of the worker while the power of
 * each control plane is cut in turn; a control plane is removed; the cluster moves to keepalived and back, killed at every change, and is
 * upgraded. The tests build on each other.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isReady } from '../api-gap.ts';
import { startWriter, type Writer } from '../api-writer.ts';
import { fresh, type Fresh } from '../fresh.ts';
import { kbuild, type Ran } from '../kbuild.ts';
import { killedAtChanges } from '../killed-at-changes.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { KUBERNETES } from '../versions.ts';
import { waitUntil } from '../wait-until.ts';

const CONTROLS = ['lecp1', 'lecp2', 'lecp3'] as const;
const [cp1, cp2, cp3] = CONTROLS;
const w1 = 'lew1';
const HOSTS = [...CONTROLS, w1];
const LOCAL = '127.0.0.1:7443';
const VIP = '10.77.0.233';
const KEEPALIVED = { loadBalancer: { kind: 'keepalived', address: VIP } };
const [, NEW] = KUBERNETES;
/** On this machine: leads to the port of the worker's loopback interface. */
const TUNNEL = 17_443;
const MINUTES_MS = 15 * 60_000;

let own: Fresh;
let tunnel: ReturnType<typeof spawn> | undefined;

async function name(hosts: readonly string[], more: object = {}): Promise<void> {
  const plain = await lab.inventory(hosts);
  const local = { ...plain, name: 'local', loadBalancer: { kind: 'local' }, ...more };
  writeFileSync(own.file, stringify(local, { aliasDuplicateObjects: false }));
}
const kubeconfig = (): string => join(own.folder, 'admin.conf');
const up = (): Promise<Ran> => kbuild(...own.up);
const moveArgs = (to: string): readonly string[] => [
  ...['move-endpoint', to, '-i', own.file, '--yes', '--kubeconfig', kubeconfig()],
];
const addressOf = async (host: string): Promise<string> => (await lab.inventory([host])).hosts[0]!.address;

/** A client that reaches the API as the worker does. */
function writeOnWorker(): Writer {
  const text = readFileSync(kubeconfig(), 'utf8');
  const { server } = (parse(text) as { clusters: { cluster: { server: string } }[] }).clusters[0]!.cluster;
  const file = join(own.folder, 'worker.conf');
  writeFileSync(file, text.replace(server, `https://127.0.0.1:${String(TUNNEL)}`));
  return startWriter(file);
}
async function written(what: string, writer: Writer): Promise<void> {
  const { acknowledged, failed, lost, longestGapMs } = await writer.stop();
  console.log(
    `${what}: ${String(acknowledged)} writes acknowledged, ${String(failed)} not, ${String(lost.length)} lost, the longest gap was ${String(longestGapMs)} ms`,
  );
  expect(lost).toEqual([]);
}
const server = async (host: string, conf: string): Promise<string> =>
  (await lab.inside(host, `sed -n 's/ *server: //p' /etc/kubernetes/${conf}`)).stdout.trim();
const backends = async (host: string): Promise<readonly string[]> =>
  [...(await lab.inside(host, 'cat /etc/haproxy/haproxy.cfg')).stdout.matchAll(/^ {4}server (\S+)/gm)].map(
    ([, one]) => one!,
  );
const active = async (host: string): Promise<readonly string[]> =>
  (await lab.inside(host, 'systemctl is-active haproxy keepalived')).stdout.trim().split('\n');
const allReady = (via: string, hosts: readonly string[]): Promise<unknown> =>
  waitUntil('all nodes are Ready', MINUTES_MS, async () => {
    const found: Readonly<Record<string, boolean>> = await nodes(via).catch(() => ({}));
    return Object.keys(found).length === hosts.length && hosts.every((host) => found[host] === true);
  });
const inCluster = async (via: string): Promise<string> =>
  `${await kubectl(via, '-n kube-system get cm kubeadm-config kube-proxy -o yaml')}\n${await kubectl(via, '-n kube-public get cm cluster-info -o yaml')}`;

beforeAll(async () => {
  own = await fresh('local', HOSTS, () => ({}), HOSTS);
  await name(HOSTS);
  const [options, where] = [lab.sshArguments(w1).slice(0, -1), lab.sshArguments(w1).at(-1)!];
  tunnel = spawn('ssh', [...options, '-N', '-L', `${String(TUNNEL)}:${LOCAL}`, where], { stdio: 'ignore' });
});
afterAll(async () => {
  tunnel?.kill();
  await lab.down(HOSTS);
});

test('three control planes and a worker are built, and each node reaches the API by its own haproxy', async () => {
  timed('up with three control planes and a worker', await up());
  expect(await nodes(cp1)).toEqual(Object.fromEntries(HOSTS.map((host) => [host, true])));
  expect(await server(w1, 'kubelet.conf')).toBe(`https://${LOCAL}`);
  for (const host of CONTROLS) expect(await server(host, 'admin.conf')).toBe(`https://${LOCAL}`);
  for (const host of HOSTS) expect(await backends(host)).toEqual(CONTROLS);
  const { stdout } = await lab.inside(w1, "ss -Hltn 'sport = :7443' | awk '{ print $4 }'");
  expect(stdout).toBe(`${LOCAL}\n`);
  expect(await inCluster(cp1)).toContain(`controlPlaneEndpoint: ${LOCAL}`);
});

test('a second up changes nothing, and the kubeconfig of users names a control plane', async () => {
  unchanged(await up());
  const { stdout } = ok(await kbuild('kubeconfig', '-i', own.file));
  const found = (parse(stdout) as { clusters: { cluster: { server: string } }[] }).clusters[0]!.cluster.server;
  const known = await Promise.all(CONTROLS.map(async (host) => `https://${await addressOf(host)}:6443`));
  expect(known).toContain(found);
});

test.each(CONTROLS)('the power of %s is cut and comes back while a client writes by the worker', async (host) => {
  const via = CONTROLS.find((one) => one !== host)!;
  const writer = writeOnWorker();
  await waitUntil('the client writes', 60_000, () => Promise.resolve(writer.acknowledged() > 20));
  const before = writer.acknowledged();
  await lab.kill([host]);
  await waitUntil('many writes are acknowledged again', MINUTES_MS, () =>
    Promise.resolve(writer.acknowledged() > before + 50),
  );
  await lab.start([host]);
  await waitUntil('its API server is back', MINUTES_MS, async () => isReady(await addressOf(host), 6443));
  await allReady(via, HOSTS);
  await written(`${host} died and came back`, writer);
});

test('then there is nothing to do', async () => {
  unchanged(await up());
});

test('a control plane is removed while a client writes, and no haproxy names it any more', async () => {
  const writer = writeOnWorker();
  timed('a control plane removed', await kbuild('remove', cp3, '-i', own.file, '--yes'));
  await written('a control plane removed', writer);
  for (const host of [cp1, cp2, w1]) expect(await backends(host)).toEqual([cp1, cp2]);
  expect(await active(cp3)).toEqual(['inactive', 'inactive']);
  await name([cp1, cp2, w1]);
  unchanged(await up());
});

test('the cluster moves to a virtual address on the control planes while a client writes by the worker', async () => {
  const hosts = [cp1, cp2, w1];
  await name(hosts, KEEPALIVED);
  const writer = writeOnWorker();
  timed('moved to keepalived', await kbuild(...moveArgs(`${VIP}:8443`)));
  await written('moved to keepalived', writer);
  expect(await server(w1, 'kubelet.conf')).toBe(`https://${VIP}:8443`);
  expect(await inCluster(cp1)).not.toContain(`server: https://${LOCAL}`);
  ok(await up());
  unchanged(await up());
  expect(await active(w1)).toEqual(['inactive', 'inactive']);
  expect((await lab.inside(cp1, 'cat /etc/haproxy/haproxy.cfg')).stdout).not.toContain(LOCAL);
});

test('and back, killed at every change, while a client writes through the virtual address', async () => {
  const hosts = [cp1, cp2, w1];
  const admin = join(own.folder, 'vip.conf');
  writeFileSync(admin, readFileSync(kubeconfig()));
  await name(hosts);
  const writer = startWriter(admin);
  // A run ends by itself only when the move is done.
  const { kills, made } = await killedAtChanges(moveArgs(LOCAL));
  await written(`moved to local, killed ${String(kills)} times`, writer);
  expect(kills).toBeGreaterThan(3);
  expect(made.join('\n')).toMatch(/haproxy[^]*lead kube-proxy/);
  unchanged(await kbuild(...moveArgs(LOCAL)));
  expect(await server(w1, 'kubelet.conf')).toBe(`https://${LOCAL}`);
  expect(await inCluster(cp1)).not.toContain(`server: https://${VIP}`);
  ok(await up());
  unchanged(await up());
  for (const host of hosts) expect(await active(host)).toEqual(['active', 'inactive']);
  await allReady(cp1, hosts);
});

test('an upgrade leaves every place as it is while a client writes by the worker', async () => {
  const hosts = [cp1, cp2, w1];
  const { kubernetes } = await lab.inventory(hosts);
  await name(hosts, { kubernetes: { ...(kubernetes as object), version: NEW.version } });
  const places = async (): Promise<readonly string[]> => [
    await server(w1, 'kubelet.conf'),
    await server(cp2, 'admin.conf'),
    ...[...(await inCluster(cp1)).matchAll(/(?:controlPlaneEndpoint|server): (\S+)/g)].map(([, at]) => at!),
  ];
  const before = await places();
  const writer = writeOnWorker();
  timed('upgrade of two control planes and a worker', await kbuild('upgrade', '-i', own.file, '--yes'));
  await written('upgrade of two control planes and a worker', writer);
  expect(await places()).toEqual(before);
  unchanged(await up());
});

test('reset leaves no haproxy and no configuration of it', async () => {
  await name(HOSTS);
  ok(await kbuild('reset', own.file, '--yes-destroy', 'local'));
  for (const host of HOSTS) {
    expect(await active(host)).toEqual(['inactive', 'inactive']);
    expect((await lab.inside(host, 'grep -rl kbuild /etc/haproxy /etc/keepalived 2>/dev/null')).stdout).toBe('');
  }
});

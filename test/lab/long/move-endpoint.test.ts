/**
 * A cluster of one control plane, whose endpoint is that host's own address, is led to a virtual address while a client writes through
 * the old endpoint, goes back with a snapshot from before, is led there again, and grows to three control planes. kbuild is killed in each
 * part of the move.
 */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isReady } from '../api-gap.ts';
import { startWriter } from '../api-writer.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import { killedAtStep } from '../killed-at-step.ts';
import * as lab from '../lab.ts';
import { expectSettled } from '../lives-on.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const [cp1, cp2, cp3, w1, w2, w3] = ['mvcp1', 'mvcp2', 'mvcp3', 'mvw1', 'mvw2', 'mvw3'] as const;
const FIRST = [cp1, w1, w2];
const HOSTS = [cp1, cp2, cp3, w1, w2, w3];
const VIP = '10.77.0.231';
const NEW = `${VIP}:8443`;
const MINUTES_MS = 15 * 60_000;

let folder: string;
let file: string;
let kubeconfig: string;
let old: string;
let writer: ReturnType<typeof startWriter>;

/** The inventory names these hosts from now on, with these `other` settings. */
async function name(hosts: readonly string[], other: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const inventory = await lab.inventory(hosts, other);
  writeFileSync(file, stringify({ ...inventory, name: 'moved' }, { aliasDuplicateObjects: false }));
}
const balanced = { loadBalancer: { kind: 'keepalived', address: VIP } };
const run = (...args: readonly string[]): Promise<Ran> => kbuild(...args, '-i', file);
const up = (): Promise<Ran> => kbuild('up', file, '--yes', '--kubeconfig', kubeconfig);
const cluster = { run, up };
const snapshot = (): string => join(folder, 'before.db');
const moveArgs = (): readonly string[] => [
  ...['move-endpoint', NEW, '-i', file, '--yes', '--json', '--kubeconfig', kubeconfig],
];

/** The servers of the kubeconfigs of a host. */
const servers = async (host: string): Promise<string> =>
  (await lab.inside(host, 'cd /etc/kubernetes; grep -H server: *.conf | tr -d " "')).stdout;

/** Every place where the endpoint lives names the new one. */
async function expectLed(): Promise<void> {
  for (const host of [w1, w2]) expect(await servers(host)).toBe(`kubelet.conf:server:https://${NEW}\n`);
  const own = await servers(cp1);
  expect(own).toContain(`admin.conf:server:https://${NEW}\n`);
  expect(own).toMatch(/^kubelet\.conf:server:https:\/\/(?!10\.77\.0\.231)/m);
  expect(await kubectl(cp1, '-n kube-system get cm kubeadm-config -o yaml')).toContain(`controlPlaneEndpoint: ${NEW}`);
  expect(await kubectl(cp1, '-n kube-public get cm cluster-info -o yaml')).toContain(`server: https://${NEW}`);
  expect(await kubectl(cp1, '-n kube-system get cm kube-proxy -o yaml')).toContain(`server: https://${NEW}`);
}

beforeAll(async () => {
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  ({ folder, file } = inventoryFile({}));
  kubeconfig = join(folder, 'moved.kubeconfig');
  process.env['XDG_STATE_HOME'] = join(folder, 'state');
  await name(FIRST);
  ok(await up());
  old = join(folder, 'old.kubeconfig');
  copyFileSync(kubeconfig, old);
  ok(await run('etcd', 'snapshot', 'save', snapshot()));
  writer = startWriter(old);
});
afterAll(async () => {
  await lab.down(HOSTS);
});

test('up refuses the new endpoint and names the command; the command refuses what the inventory does not name', async () => {
  await name(FIRST, balanced);
  const refused = await up();
  expect(refused.code).toBe(7);
  expect(refused.stderr).toContain(`kbuild move-endpoint ${NEW}`);
  const other = await run('move-endpoint', '10.77.0.9:6443', '--yes');
  expect(other.code).toBe(2);
  expect(other.stderr).toContain(NEW);
});

test('an address that another machine has is refused, and nothing is changed', async () => {
  const taken = await lab.inventory([w3]);
  await name(FIRST, { loadBalancer: { kind: 'keepalived', address: taken.hosts[0]!.address } });
  const ran = await run('move-endpoint', `${taken.hosts[0]!.address}:8443`, '--yes');
  expect(ran.code).toBe(7);
  expect(ran.stderr).toContain('another machine has the virtual address');
  await name(FIRST, balanced);
});

test.each([
  ['load-balancer', 'haproxy-config', cp1],
  ['api-server-names', 'api-server-names', cp1],
  ['admin-kubeconfigs', 'kubeconfigs-led', cp1],
  ['kube-proxy', 'kube-proxy-led', cp1],
  ['kubelets', 'kubeconfigs-led', w1],
])('kbuild is killed in the phase %s, at %s of %s', async (_, step, host) => {
  await killedAtStep(moveArgs(), step, host);
  const { address } = (await lab.inventory([cp1])).hosts[0]!;
  expect(await isReady(address, 6443)).toBe(true);
});

test('the same command ends the move; the client of the old endpoint has lost no write', async () => {
  const ran = ok(await kbuild(...moveArgs()));
  const written = await writer.stop();
  console.log(
    `the last run took ${ran.seconds.toFixed(0)} s; through the old endpoint the client wrote ${String(written.acknowledged)} times, the longest gap was ${String(written.longestGapMs)} ms`,
  );
  expect(written.lost).toEqual([]);
  await expectLed();
});

test('then nothing is left to do, for the command and for up, and both endpoints serve', async () => {
  unchanged(await run('move-endpoint', NEW, '--yes', '--kubeconfig', kubeconfig));
  unchanged(await up());
  const { address } = (await lab.inventory([cp1])).hosts[0]!;
  expect([await isReady(address, 6443), await isReady(VIP, 8443)]).toEqual([true, true]);
  await expectSettled(cluster, FIRST);
});

test('a snapshot from before the move brings the old endpoint back, and the same command leads the cluster again', async () => {
  timed('restored', await run('etcd', 'snapshot', 'restore', snapshot(), '--yes'));
  const refused = await up();
  expect(refused.code, refused.stderr).toBe(7);
  expect(refused.stderr).toContain(`kbuild move-endpoint ${NEW}`);
  timed('led again', await kbuild(...moveArgs()));
  await expectLed();
  await expectSettled(cluster, FIRST);
});

test('the cluster grows to three control planes and another worker under a client of the new endpoint', async () => {
  const later = startWriter(kubeconfig);
  await name(HOSTS, balanced);
  const ran = ok(await up());
  const written = await later.stop();
  console.log(
    `1 → 3 control planes and a worker took ${ran.seconds.toFixed(0)} s; the client wrote ${String(written.acknowledged)} times, the longest gap was ${String(written.longestGapMs)} ms`,
  );
  expect(written.lost).toEqual([]);
  await waitUntil('all nodes are Ready', MINUTES_MS, async () => {
    const found = await nodes(cp1);
    return HOSTS.every((host) => found[host] === true);
  });
  await expectSettled(cluster, HOSTS);
});

test('the cluster outlives the host that was its endpoint', async () => {
  await lab.kill([cp1]);
  await waitUntil('the virtual address serves without the first control plane', 120_000, () => isReady(VIP, 8443));
  // Its kubelet goes on to report through the new endpoint.
  await waitUntil(`${cp1} is not Ready, and ${w1} is`, MINUTES_MS, async () => {
    const found = await nodes(cp2);
    return found[cp1] === false && found[w1] === true && found[w2] === true;
  });
});

/**
 * A cluster whose virtual address is held by kube-vip: built with one control plane, grown to three while a client writes through the
 * address, the host of the address cut off from its power, a control plane removed, all of it reset.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isReady } from '../api-gap.ts';
import { startWriter, type Written } from '../api-writer.ts';
import { fresh, type Fresh } from '../fresh.ts';
import { kbuild, type Ran } from '../kbuild.ts';
import { buildKubeVip, withKubeVip } from '../kube-vip.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const CONTROLS = ['kvcp1', 'kvcp2', 'kvcp3'] as const;
const [cp1] = CONTROLS;
const w1 = 'kvw1';
const FIRST = [cp1, w1];
const HOSTS = [...CONTROLS, w1];
const VIP = '10.77.0.232';
const PORT = 6443;
const MANIFEST = '/etc/kubernetes/manifests/kube-vip.yaml';
const MINUTES_MS = 15 * 60_000;

let own: Fresh;
let kubeconfig: string;

async function name(hosts: readonly string[]): Promise<void> {
  const plain = await lab.inventory(hosts);
  const inventory = { ...plain, name: 'kube-vip', ...withKubeVip(plain, VIP) };
  writeFileSync(own.file, stringify(inventory, { aliasDuplicateObjects: false }));
}
const up = (...flags: readonly string[]): Promise<Ran> => kbuild(...own.up, ...flags);

/** The hosts that have the address on an interface. */
async function holders(): Promise<readonly string[]> {
  const found = await Promise.all(
    HOSTS.filter((host) => lab.isOn(host)).map(async (host) => {
      const { stdout } = await lab.inside(host, 'ip -o addr show');
      return stdout.includes(` ${VIP}/32 `) ? [host] : [];
    }),
  );
  return found.flat();
}
/** The host of the address, when there is one. */
async function holder(): Promise<string> {
  let found: readonly string[] = [];
  await waitUntil('one host has the virtual address, and the API answers there', MINUTES_MS, async () => {
    found = await holders();
    return found.length === 1 && (await isReady(VIP, PORT));
  });
  return found[0]!;
}
function told(what: string, { acknowledged, failed, lost, longestGapMs }: Written): void {
  console.log(
    `${what}: ${String(acknowledged)} writes acknowledged, ${String(failed)} not, the longest gap was ${String(longestGapMs)} ms`,
  );
  expect(lost).toEqual([]);
}
const allReady = (via: string, hosts: readonly string[]): Promise<unknown> =>
  waitUntil('all nodes are Ready', MINUTES_MS, async () => {
    const found: Readonly<Record<string, boolean>> = await nodes(via).catch(() => ({}));
    return Object.keys(found).length === hosts.length && hosts.every((host) => found[host] === true);
  });
const manifests = async (hosts: readonly string[]): Promise<readonly boolean[]> =>
  Promise.all(hosts.map(async (host) => (await lab.inside(host, `test -e ${MANIFEST}`)).code === 0));

beforeAll(async () => {
  await buildKubeVip();
  own = await fresh('kube-vip', HOSTS);
  kubeconfig = join(own.folder, 'admin.conf');
  await name(FIRST);
});
afterAll(async () => {
  await lab.down(HOSTS);
});

test('a control plane and a worker are built, and reach the API at the virtual address', async () => {
  timed('up with one control plane and a worker', await up());
  expect(await holder()).toBe(cp1);
  expect(await nodes(cp1)).toEqual({ [cp1]: true, [w1]: true });
  expect((await lab.inside(w1, 'grep server: /etc/kubernetes/kubelet.conf')).stdout).toContain(
    `https://${VIP}:${String(PORT)}`,
  );
});

test('then there is nothing to do, and the founder needs its second kubeconfig no more', async () => {
  expect(ok(await kbuild('plan', own.file)).stdout).toContain('nothing to do');
  unchanged(await up());
  expect((await lab.inside(cp1, `grep -c super-admin ${MANIFEST}`)).stdout).toBe('0\n');
});

test('the node that holds the lease is the host that has the address, and its metrics stay on it', async () => {
  const lease = await kubectl(cp1, '-n kube-system get lease plndr-cp-lock -o jsonpath={.spec.holderIdentity}');
  expect([lease]).toEqual(await holders());
  expect((await lab.inside(cp1, "ss -Hltn 'sport = :2112' | awk '{ print $4 }'")).stdout).toBe('127.0.0.1:2112\n');
});

test('the cluster grows to three control planes while a client writes through the address', async () => {
  const writer = startWriter(kubeconfig);
  await name(HOSTS);
  const ran = await up();
  const written = await writer.stop();
  timed('1 → 3 control planes', ran);
  told('1 → 3 control planes', written);
  await allReady(cp1, HOSTS);
  expect(await manifests(CONTROLS)).toEqual([true, true, true]);
  await holder();
  unchanged(await up());
});

test('another control plane has the address when the power of its host is cut, and no write is lost', async () => {
  const before = await holder();
  const writer = startWriter(kubeconfig);
  await waitUntil('the client writes', 60_000, () => Promise.resolve(writer.acknowledged() > 10));
  const acknowledged = writer.acknowledged();
  await lab.kill([before]);
  await waitUntil('a write is acknowledged again', MINUTES_MS, async () => {
    const [now] = await holders();
    return now !== undefined && now !== before && writer.acknowledged() > acknowledged + 10;
  });
  told('the power of the host of the address was cut', await writer.stop());
  const after = await holder();
  expect(after).not.toBe(before);

  await lab.start([before]);
  await allReady(after, HOSTS);
  await holder();
  ok(await up());
  unchanged(await up());
});

test('the host of the address is removed as a control plane while a client writes, and keeps nothing of it', async () => {
  const leaving = await holder();
  const staying = CONTROLS.filter((host) => host !== leaving);
  const writer = startWriter(kubeconfig);
  const ran = await kbuild('remove', leaving, '-i', own.file, '--yes');
  const written = await writer.stop();
  timed('the host of the address removed', ran);
  told('the host of the address removed', written);
  expect(staying).toContain(await holder());
  expect(await manifests([leaving])).toEqual([false]);
  await name([...staying, w1]);
  unchanged(await up());
});

test('reset leaves no address and no manifest', async () => {
  await name(HOSTS);
  ok(await kbuild('reset', own.file, '--yes-destroy', 'kube-vip'));
  expect(await holders()).toEqual([]);
  expect(await manifests(CONTROLS)).toEqual([false, false, false]);
});

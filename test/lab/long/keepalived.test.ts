/** haproxy and keepalived on hosts of their own, before one control plane: built first, failing over, left alone afterwards. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isReady, watchApi } from '../api-gap.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const [cp, lb1, lb2] = ['vcp1', 'vlb1', 'vlb2'] as const;
const HOSTS = [cp, lb1, lb2];
const VIP = '10.77.0.201';
const PORT = 6443;

let folder: string;
let file: string;

const up = (...flags: readonly string[]): Promise<Ran> =>
  kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'vip.kubeconfig'), ...flags);
const holder = async (): Promise<readonly string[]> => {
  const found = await Promise.all(
    [lb1, lb2].map(async (name) => {
      if (!lab.isOn(name)) return [];
      const { stdout } = await lab.inside(name, 'ip -o addr show');
      return stdout.includes(` ${VIP}/32 `) ? [name] : [];
    }),
  );
  return found.flat();
};
/** Does something, and prints how long the API at the virtual address was gone until `over`. */
async function gap(what: string, act: () => Promise<unknown>, over: () => Promise<boolean>): Promise<number> {
  const watched = watchApi(VIP, PORT);
  await act();
  await waitUntil(what, 60_000, over);
  await waitUntil(`the API after: ${what}`, 60_000, () => isReady(VIP, PORT));
  const seconds = (await watched.stop()) / 1000;
  console.log(`${what}: the API was gone for ${seconds.toFixed(1)} s`);
  return seconds;
}

beforeAll(async () => {
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  const inventory = await lab.inventory(HOSTS, { loadBalancer: { kind: 'keepalived', address: VIP } });
  ({ folder, file } = inventoryFile({ ...inventory, name: 'vip' }));
});
afterAll(async () => {
  await lab.down(HOSTS);
});

test('up builds the balancers first, then the cluster behind them', async () => {
  const ran = ok(await up());
  console.log(`up with two balancers: ${ran.seconds.toFixed(1)} s`);
  expect(await nodes(cp)).toEqual({ [cp]: true });
  expect(await isReady(VIP, PORT)).toBe(true);
  expect(await holder()).toEqual([lb1]);
});

test('a second time there is nothing to do', async () => {
  unchanged(await up());
});

test('the address moves within 5 s when the haproxy of its holder dies, and comes back', async () => {
  const away = await gap(
    'haproxy stopped on the holder',
    () => lab.inside(lb1, 'systemctl kill -s KILL haproxy; systemctl stop haproxy'),
    async () => (await holder()).join() === lb2,
  );
  expect(away).toBeLessThan(5);
  ok(await up());
  await waitUntil('the first balancer to hold the address again', 30_000, async () => (await holder()).join() === lb1);
});

test('the address moves within 5 s when the host of its holder dies', async () => {
  const away = await gap(
    'the holder killed',
    () => lab.kill([lb1]),
    async () => (await holder()).join() === lb2,
  );
  expect(away).toBeLessThan(5);
  await lab.start([lb1]);
  await waitUntil('the first balancer to hold the address again', 60_000, async () => (await holder()).join() === lb1);
});

test('a dead API server is out within 3 s, and the address stays', async () => {
  const health = 'exec 3<>/dev/tcp/127.0.0.1/8404; printf "GET /health HTTP/1.0\\r\\n\\r\\n" >&3; head -n 1 <&3';
  const seen = `bash -c '${health}'`;
  await lab.inside(cp, 'mv /etc/kubernetes/manifests/kube-apiserver.yaml /root/');
  await waitUntil('the API server to end', 60_000, async () => !(await isReady(await addressOf(cp), 6443)));
  const from = performance.now();
  await waitUntil('haproxy to notice', 10_000, async () => (await lab.inside(lb1, seen)).stdout.includes('503'));
  const seconds = (performance.now() - from) / 1000;
  console.log(`a dead API server was out after ${seconds.toFixed(1)} s`);
  expect(seconds).toBeLessThan(3);
  expect(await holder()).toEqual([lb1]);
  await lab.inside(cp, 'mv /root/kube-apiserver.yaml /etc/kubernetes/manifests/');
  await waitUntil('the API server to come back', 180_000, () => isReady(VIP, PORT));
});

test('reset leaves no address and no program behind', async () => {
  ok(await kbuild('reset', file, '--yes-destroy', 'vip'));
  expect(await holder()).toEqual([]);
  for (const name of [lb1, lb2])
    expect((await lab.inside(name, 'systemctl is-active haproxy keepalived')).stdout).toBe('inactive\ninactive\n');
});

async function addressOf(name: string): Promise<string> {
  const { hosts } = await lab.inventory([name]);
  return hosts[0]!.address;
}

/**
 * What operators replace: the data of a member, a disk, a machine, an address. Three control planes with stacked etcd and a worker, and
 * a client that writes all the time. The tests build on each other.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter, type Writer } from '../api-writer.ts';
import { killedAtChanges } from '../killed-at-changes.ts';
import { kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { expectSettled } from '../lives-on.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const [cp1, cp2, cp3, spare, w1] = ['rpcp1', 'rpcp2', 'rpcp3', 'rpcp4', 'rpw1'] as const;
const CONTROL_PLANES = [cp1, cp2, cp3];
const HOSTS = [...CONTROL_PLANES, w1];
const LATER = ['rpcp5', 'rpw2'];
const FIVE_MINUTES = 5 * 60_000;

let cluster: Stacked;
let writer: Writer;
/** Hosts that have another address, or are another machine, than the lab's settings of their name say. */
const changed = new Map<string, Readonly<Record<string, unknown>> & { readonly internalAddress?: string }>();

/** The inventory of these hosts, each as it is by now. */
async function name(hosts: readonly string[]): Promise<void> {
  const inventory = await lab.inventory(hosts);
  const now = inventory.hosts.map((host) => ({ ...host, ...changed.get(host.name) }));
  await cluster.name(hosts, { hosts: now });
  // The balancer is the user's own: it must be told the addresses, too.
  cluster.balancer.setBackends(
    now.filter(({ role }) => role === 'control-plane').map((host) => host.internalAddress ?? host.address),
  );
}

const remove = (...args: readonly string[]): Promise<Ran> => cluster.run('remove', ...args, '--yes');
const inside = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();
/** The machine that has taken the name of another one. */
const machines = new Map<string, string>();
const machineOf = (host: string): string => machines.get(host) ?? host;
/** The address of a host in the cluster's network, in the inventory. SSH has an interface of its own. */
const addressOf = (host: string): string =>
  changed.get(host)?.internalAddress ?? lab.hostSettings(host).internalAddress!;
const inventoryGives = (host: string, internalAddress: string): void =>
  void changed.set(host, { ...changed.get(host), internalAddress });
const alike = (address: string, last: number): string => address.replace(/\d+$/, String(last));
/** kbuild with these arguments, killed at every change. */
const killed = async (args: readonly string[]): Promise<Ran> => (await killedAtChanges(args)).last;
const whole = (args: readonly string[]): Promise<Ran> => kbuild(...args);
/** Removes a host and joins it with the address that it has then. */
async function readdressed(host: string, address: string, run: typeof whole): Promise<void> {
  const from = performance.now();
  ok(await run(['remove', host, '--yes', '-i', cluster.file]));
  inventoryGives(host, address);
  await name(HOSTS);
  // The kernel takes both addresses away with the first one of their network.
  await inside(machineOf(host), `ip addr flush dev eth1 && ip addr add ${address}/24 dev eth1`);
  ok(await run(['up', cluster.file, '--yes', '--kubeconfig', cluster.kubeconfig]));
  console.log(`another address of ${host}: ${((performance.now() - from) / 1000).toFixed(0)} s`);
}
const isWhole = async (): Promise<void> => {
  expect(await membersOf(cluster)).toEqual(CONTROL_PLANES);
  expect(await nodes(cp1)).toEqual(Object.fromEntries(HOSTS.map((host) => [host, true])));
  unchanged(await cluster.up());
  await expectSettled(cluster, HOSTS, machineOf);
};

beforeAll(async () => {
  await lab.up([...HOSTS, spare], { nics: 2 });
  cluster = await stacked('replaced', 7621, HOSTS);
  timed('up', await cluster.up());
  writer = startWriter(cluster.kubeconfig);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, spare, ...LATER]);
});

test('the data of a member is damaged: status names it, and removed and joined again it has new data', async () => {
  await inside(
    cp2,
    'dd if=/dev/urandom of=/var/lib/etcd/member/snap/db bs=64k count=1 conv=notrunc; pkill -KILL -x etcd',
  );
  await waitUntil('status to name the member', FIVE_MINUTES, async () => {
    const { code, stdout } = await cluster.run('status');
    return code === 5 && stdout.includes(`${cp2}: its etcd member is not healthy`);
  });
  timed('remove of a damaged member', await remove(cp2));
  timed('up that joins it again', await cluster.up());
  await isWhole();
});

test('a disk that held etcd’s data is new and empty: status names the way, and the host is joined again', async () => {
  await inside(
    cp2,
    'mv /etc/kubernetes/manifests/etcd.yaml /root/ && while pgrep -x etcd >/dev/null; do sleep 0.2; done',
  );
  await inside(cp2, 'find /var/lib/etcd -mindepth 1 -delete && mv /root/etcd.yaml /etc/kubernetes/manifests/');
  const named = await waitUntil('status to name the way', FIVE_MINUTES, async () => {
    const ran = await cluster.run('status');
    return ran.stdout.includes('its etcd member is not healthy') && ran;
  });
  expect(named.code).toBe(5);
  expect(named.stdout).toContain(`If its data is damaged or lost: \`kbuild remove ${cp2}\`, then \`kbuild up\``);
  timed('remove of a member without data', await remove(cp2));
  timed('up that joins it again', await cluster.up());
  await isWhole();
});

test('system disks of a control plane and of the worker are new: up alone joins both again', async () => {
  await lab.reset([cp3, w1]);
  timed('up after two new disks', await cluster.up());
  await isWhole();
});

test('another machine takes the place and the name of a control plane, also when kbuild is killed at every change', async () => {
  await lab.kill([cp3]);
  const removed = await killedAtChanges(['remove', cp3, '--dead', cp3, '--yes', '-i', cluster.file]);
  ok(removed.last);
  expect(removed.kills).toBeGreaterThan(0);
  machines.set(cp3, spare);
  const { address, internalAddress } = lab.hostSettings(spare);
  changed.set(cp3, { address, internalAddress: internalAddress!, setHostname: true });
  await name(HOSTS);
  const joined = await killedAtChanges(['up', cluster.file, '--yes', '--kubeconfig', cluster.kubeconfig]);
  ok(joined.last);
  expect(joined.kills).toBeGreaterThan(2);
  await isWhole();
});

test('a worker and a control plane get other addresses: up refuses to change them alone, and remove and up do it, also when killed', async () => {
  for (const [host, last] of [
    [w1, 241],
    [cp2, 242],
  ] as const) {
    const old = addressOf(host);
    const address = alike(old, last);
    inventoryGives(host, address);
    await inside(host, `ip addr add ${address}/24 dev eth1`);
    await name(HOSTS);
    const refused = await cluster.up();
    expect(refused.code, refused.stderr).toBe(7);
    expect(refused.stderr).toContain(`it joined replaced with the address ${old}, and the inventory says ${address}`);
    inventoryGives(host, old);
    await name(HOSTS);
    await readdressed(host, address, killed);
  }
  await isWhole();
  const { acknowledged, lost, longestGapMs } = await writer.stop();
  console.log(`${String(acknowledged)} writes acknowledged, longest gap ${String(longestGapMs)} ms`);
  expect(lost).toEqual([]);
});

test('all addresses change at once: with the old ones beside them the cluster is back, and each host is joined with its new one', async () => {
  const both = HOSTS.map((host, index) => ({
    host,
    old: addressOf(host),
    address: alike(addressOf(host), 243 + index),
  }));
  await Promise.all(
    both.map(({ host, address }) =>
      inside(machineOf(host), `ip addr flush dev eth1 && ip addr add ${address}/24 dev eth1`),
    ),
  );
  await waitUntil('the API is away', FIVE_MINUTES, async () => (await cluster.run('status')).code !== 0);
  const from = performance.now();
  await Promise.all(both.map(({ host, old }) => inside(machineOf(host), `ip addr add ${old}/24 dev eth1`)));
  // Members know each other by these addresses, also the one that calls: the hosts must send from them.
  await new Promise((resolve) => setTimeout(resolve, 30_000));
  const { code } = await cluster.run('status');
  const refused = await inside(
    cp1,
    'grep -h "does not match any of" /var/log/pods/kube-system_etcd-*/etcd/*.log | tail -n 1',
  );
  console.log(`with the old addresses as second ones: status exits ${String(code)}; etcd said: ${refused}`);
  await Promise.all(
    both.map(({ host, old }) => inside(machineOf(host), `ip route replace ${alike(old, 0)}/24 dev eth1 src ${old}`)),
  );
  await waitUntil('the cluster is back', 2 * FIVE_MINUTES, async () => (await cluster.run('status')).code === 0);
  console.log(`the cluster is back after ${((performance.now() - from) / 1000).toFixed(0)} s`);
  for (const { host, address } of both) await readdressed(host, address, whole);
  await isWhole();
});

test('afterwards a control plane and a worker can join', async () => {
  await lab.up(LATER, { nics: 2 });
  await lab.reset(LATER);
  await name([...HOSTS, ...LATER]);
  timed('one more of each', await cluster.up());
  await expectSettled(cluster, [...HOSTS, ...LATER], machineOf);
});

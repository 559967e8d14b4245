/**
 * haproxy and keepalived on the control planes, then on hosts of their own: backends follow growth and removal on one
 * balancer after the other, and who is no balancer any more is left as it was. The tests build on each other.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isReady, watchApi } from '../api-gap.ts';
import { eventsOf, inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { timed } from '../ok.ts';
import { waitUntil } from '../wait-until.ts';

const [two, three] = [
  ['hacp1', 'hacp2'],
  ['hacp1', 'hacp2', 'hacp3'],
] as const;
const LB = ['halb1', 'halb2'];
const HOSTS = [...three, ...LB];
const VIP = '10.77.0.212';
const PORT = 8443;
const { folder, file } = inventoryFile({});

const up = (...flags: readonly string[]): Promise<Ran> =>
  kbuild('up', file, '--yes', '--json', '--kubeconfig', join(folder, 'vip.kubeconfig'), ...flags);
async function name(names: readonly string[]): Promise<void> {
  const inventory = await lab.inventory(names, { loadBalancer: { kind: 'keepalived', address: VIP, port: PORT } });
  writeFileSync(file, stringify({ ...inventory, name: 'habal' }, { aliasDuplicateObjects: false }));
}
/** A run; prints the longest time without an answer at the virtual address meanwhile, which `withinS` may limit, in seconds. */
async function watched(what: string, run: () => Promise<Ran>, withinS = Infinity): Promise<Ran> {
  const watch = watchApi(VIP, PORT);
  const ran = timed(what, await run());
  const gap = (await watch.stop()) / 1000;
  console.log(`${what}: longest time without an answer ${gap.toFixed(1)} s`);
  expect(gap).toBeLessThan(withinS);
  return ran;
}
const backends = async (host: string): Promise<readonly string[]> =>
  [...(await lab.inside(host, 'cat /etc/haproxy/haproxy.cfg')).stdout.matchAll(/^ {4}server (\S+)/gm)].map(
    ([, one]) => one!,
  );
/** Where and in which order the backends were changed; that a change ended before the next began. */
function oneByOne(ran: Ran): readonly string[] {
  const changes = eventsOf(ran).flatMap((event) =>
    (event.kind === 'changing' || event.kind === 'changed') && event.step === 'haproxy-service' ? [event] : [],
  );
  for (const [i, { kind }] of changes.entries()) expect(kind).toBe(i % 2 === 0 ? 'changing' : 'changed');
  return changes.filter(({ kind }) => kind === 'changed').map(({ host }) => host);
}

/** Who of three holds the virtual address. */
async function holders(): Promise<readonly string[]> {
  const found = await Promise.all(
    three.map(async (host) =>
      lab.isOn(host) && (await lab.inside(host, 'ip -o addr show')).stdout.includes(` ${VIP}/32 `) ? [host] : [],
    ),
  );
  return found.flat();
}
/** Seconds without an answer at the virtual address when a host is `kill`ed, or a command runs on it, until `over`. */
async function gone(what: string, act: string, host: string, over: () => Promise<boolean>): Promise<number> {
  const watch = watchApi(VIP, PORT);
  await (act === 'kill' ? lab.kill([host]) : lab.inside(host, act));
  await waitUntil(what, 60_000, over);
  // As many in a row as every backend answers several of.
  await waitUntil(`answers after: ${what}`, 60_000, async () => {
    for (let n = 0; n < 20; n++) if (!(await isReady(VIP, PORT))) return false;
    return true;
  });
  const seconds = (await watch.stop()) / 1000;
  console.log(`${what}: longest time without an answer ${seconds.toFixed(1)} s`);
  return seconds;
}

beforeAll(async () => {
  process.env['XDG_STATE_HOME'] = join(folder, 'state');
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  await name(two);
});
afterAll(async () => {
  await lab.down(HOSTS);
});

test('two control planes are each other’s balancers', async () => {
  timed('2 control planes with keepalived', await up());
  for (const host of two) expect(await backends(host)).toEqual(two);
});

test('growth: backends follow on one balancer after the other', async () => {
  await name(three);
  const ran = await watched('2 → 3', up);
  expect(oneByOne(ran)).toEqual(three);
  for (const host of three) expect(await backends(host)).toEqual(three);
});

test('an API server of three dies on the holder: the others answer within 3 s, and the address stays', async () => {
  const [host] = await holders();
  const address = lab.hostSettings(host!).address;
  const manifest = '/etc/kubernetes/manifests/kube-apiserver.yaml';
  const away = await gone(
    'an API server away',
    `mv ${manifest} /root/`,
    host!,
    async () => !(await isReady(address, 6443)),
  );
  expect(away).toBeLessThan(3);
  expect(await holders()).toEqual([host]);
  await lab.inside(host!, `mv /root/kube-apiserver.yaml ${manifest}`);
  await waitUntil('the API server to come back', 180_000, () => isReady(address, 6443));
});

test('the holder of three dies: another has the address within 5 s', async () => {
  const [host] = await holders();
  const away = await gone('the holder killed', 'kill', host!, async () =>
    (await holders()).some((name) => name !== host),
  );
  expect(away).toBeLessThan(5);
  await lab.start([host!]);
  await waitUntil('its API server', 180_000, () => isReady(lab.hostSettings(host!).address, 6443));
  timed('up after it', await up());
});

test('removal: the same command takes the backend out, before its API server goes', async () => {
  const ran = await watched('3 → 2', () => kbuild('remove', 'hacp3', '-i', file, '--yes', '--json'));
  expect(oneByOne(ran)).toEqual(two);
  for (const host of two) {
    expect(await backends(host)).toEqual(two);
    expect((await lab.inside(host, 'cat /etc/keepalived/keepalived.conf')).stdout).not.toContain(
      lab.hostSettings('hacp3').address,
    );
  }
  expect((await lab.inside('hacp3', 'systemctl is-active haproxy keepalived')).stdout).toBe('inactive\ninactive\n');
  await name(two);
  expect(timed('second run', await up()).stdout).not.toContain('"changed"');
});

test('other balancers: the new ones serve, the former ones are left without any of it', async () => {
  await name([...two, ...LB]);
  await watched('to hosts of their own', up, 5);
  expect(await isReady(VIP, PORT)).toBe(true);
  for (const host of LB) expect(await backends(host)).toEqual(two);
  const left = 'systemctl is-active haproxy keepalived; grep -ls "Written by kbuild" /etc/haproxy/* /etc/keepalived/*';
  for (const host of two) expect((await lab.inside(host, left)).stdout).toBe('inactive\ninactive\n');
  expect(timed('second run', await up()).stdout).not.toContain('"changed"');
});

/** Three control planes with keepalived on them: one is removed as dead, and boots again with the virtual address. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isReady } from '../api-gap.ts';
import type { LabFinding } from '../findings.ts';
import { eventsOf, inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['rvcp1', 'rvcp2', 'rvcp3'] as const;
const [first, second] = HOSTS;
const VIP = '10.77.0.207';
const PORT = 8443;

let folder: string;
let file: string;

const up = (...flags: readonly string[]): Promise<Ran> =>
  kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'trio.kubeconfig'), ...flags);
const holders = async (): Promise<readonly string[]> => {
  const found = await Promise.all(
    HOSTS.map(async (name) => {
      if (!lab.isOn(name)) return [];
      return (await lab.inside(name, 'ip -o addr show')).stdout.includes(` ${VIP}/32 `) ? [name] : [];
    }),
  );
  return found.flat();
};
const isHealthy = async (): Promise<boolean> => (await kbuild('status', file)).code === 0;

beforeAll(async () => {
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  const inventory = await lab.inventory(HOSTS, { loadBalancer: { kind: 'keepalived', address: VIP } });
  ({ folder, file } = inventoryFile({ ...inventory, name: 'trio' }));
  process.env['XDG_STATE_HOME'] = join(folder, 'state');
});
afterAll(async () => {
  await lab.down(HOSTS);
});

test('up builds three control planes behind their own virtual address, and status is healthy', async () => {
  timed('up of three control planes with keepalived', await up());
  await waitUntil('status to be healthy', 60_000, isHealthy);
  expect(await holders()).toEqual([first]);
});

test('an API server without its etcd is one line of status, with exit 5 for text and JSON', async () => {
  await lab.inside(second, 'mv /etc/kubernetes/manifests/etcd.yaml /root/');
  const isSick = async () =>
    (await lab.inside(second, 'curl -sk https://127.0.0.1:6443/readyz')).stdout.includes('[-]etcd failed');
  await waitUntil('the API server to miss its etcd', 120_000, isSick);
  const [text, json] = await Promise.all([kbuild('status', file), kbuild('status', file, '--json')]);
  console.log(text.stdout);
  expect([text.code, json.code]).toEqual([5, 5]);
  const [servers] = text.stdout.split('\n').filter((line) => line.startsWith('API servers: '));
  expect(servers).toMatch(/rvcp1 ok, rvcp2 etcd\S*( etcd\S*)* failed, rvcp3 ok$/);
  expect(text.stdout).toContain('rvcp2: its API server is not ready: etcd');
  expect(text.stdout).not.toContain('[+]');
  await lab.inside(second, 'mv /root/etcd.yaml /etc/kubernetes/manifests/');
  await waitUntil('status to be healthy again', 240_000, isHealthy);
});

test('a control plane that was removed as dead boots again: it is named, and loses the address first', async () => {
  await lab.kill([first]);
  await waitUntil('the address to move', 30_000, async () => (await holders()).join() === second);
  const removed = ok(await kbuild('remove', first, '--dead', first, '-i', file, '--yes'));
  expect(removed.stderr).toContain(`${first} cannot be cleaned now: if it boots again, it claims the virtual address`);
  await lab.start([first]);
  await waitUntil('the one that returned to claim the address', 120_000, async () => (await holders()).includes(first));
  console.log(`the address is on ${(await holders()).join(' and ')}`);

  const checked = await kbuild('check', file, '--json');
  const { findings } = JSON.parse(checked.stdout) as { findings: readonly (LabFinding & { remedy?: string })[] };
  expect(findings.filter(({ check }) => check === 'unique-address')).toEqual([]);
  const about = findings.filter(({ check }) => check === 'virtual-address');
  if ((await holders()).length > 1) {
    expect(about.map(({ host }) => host)).toEqual([first]);
    expect(about[0]!.remedy).toContain(`kbuild reset --hosts ${first}`);
  }
  const refused = await up();
  expect(refused.code, refused.stderr).toBe(7);
  expect(refused.stderr).toContain(`${first}: refused: it was removed from the cluster and came back`);
  expect(refused.stderr).toContain(`kbuild reset --hosts ${first}`);
  expect(refused.stderr).not.toContain('another address');

  const ran = ok(await kbuild('reset', file, '--hosts', first, '--yes-destroy', first, '--json'));
  const [began] = eventsOf(ran).filter(({ kind }) => kind === 'changing');
  expect(began).toMatchObject({ host: first, step: 'stray-balancer' });
  expect(await holders()).toEqual([second]);
  expect(await isReady(VIP, PORT)).toBe(true);
});

test('up joins it anew, and nothing is left to do', async () => {
  timed('up that joins it anew', await up());
  await waitUntil('the address to be back', 60_000, async () => (await holders()).join() === first);
  await waitUntil('status to be healthy', 60_000, isHealthy);
  unchanged(await up());
});

/** A mixed cluster without tunnels, from bare hosts to bare hosts. The tests build on each other, in this order. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leftovers } from '../../windows/host/machine.ts';
import type { SimulatedWindowsHost } from '../../windows/host/server.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { packetBetween, windowsEntry, windowsLabHost } from '../windows.ts';

const [cp, w1, w2] = ['wicp1', 'wiw1', 'wiw2'] as const;
const HOSTS = [cp, w1, w2];
const network = { plugin: 'flannel', flannel: { backend: 'host-gw' } };

let folder: string;
let file: string;
let inventory: lab.LabInventory;
let windows: readonly SimulatedWindowsHost[];
let before: readonly object[];

const up = (): Promise<Ran> => kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'));
const withoutFeatures = (left: object): object => ({ ...left, features: undefined });

beforeAll(async () => {
  windows = [
    await windowsLabHost('wiwin1', { build: '20348', internalAddress: '10.77.0.210', network: 'cbr0' }),
    await windowsLabHost('wiwin2', { build: '26100', internalAddress: '10.77.0.211', network: 'cbr0' }),
  ];
  before = windows.map(({ machine }) => leftovers(machine));
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  inventory = { ...(await lab.inventory(HOSTS)), name: 'routed', network };
  ({ folder, file } = inventoryFile(inventory));
});

afterAll(async () => {
  await Promise.all(windows.map((host) => host.close()));
  await lab.down(HOSTS);
});

test('up builds it', async () => {
  writeFileSync(
    file,
    stringify(
      { ...inventory, hosts: [...inventory.hosts, ...windows.map(windowsEntry)] },
      { aliasDuplicateObjects: false },
    ),
  );
  const { seconds } = ok(await up());
  console.log(`host-gw: 1 control plane, 2 Linux and 2 Windows workers: ${seconds.toFixed(1)} s`);
  expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true, wiwin1: true, wiwin2: true });
  expect(windows.map(({ machine }) => machine.networks.map(({ name }) => name))).toEqual([['cbr0'], ['cbr0']]);
});

test('pods of different hosts talk without a tunnel', async () => {
  const found = await packetBetween(cp, [w1, w2]);
  console.log(`caught on ${w1}: ${JSON.stringify(found)}`);
  expect(found.by).toBe('route');
});

test('a second run changes nothing', async () => {
  unchanged(await up());
});

test('reset leaves the Windows hosts as they were, but for their features', async () => {
  ok(await kbuild('reset', file, '--yes-destroy', 'routed'));
  expect(windows.map(({ machine }) => withoutFeatures(leftovers(machine)))).toEqual(before.map(withoutFeatures));
});

/** A simulated Windows worker joins a real control plane by TLS bootstrap, is left alone by a second run, and is as before after reset. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leftovers } from '../../windows/host/machine.ts';
import type { SimulatedWindowsHost } from '../../windows/host/server.ts';
import { bootFresh } from '../fresh.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged, well } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { VERSIONS } from '../versions.ts';
import { PATIENCE_MS } from '../wait-until.ts';
import { windowsEntry, windowsLabHost } from '../windows.ts';

const cp = 'wccp1';
let file: string;
let windows: SimulatedWindowsHost;
let before: object;

const up = (): Promise<Ran> => kbuild('up', file, '--yes', '--kubeconfig', join(file, '..', 'admin.conf'));
/** What the host has that kbuild could have brought; features stay. */
const remains = (): object => ({ ...leftovers(windows.machine), features: undefined });

beforeAll(async () => {
  windows = await windowsLabHost('wcwin1', {
    build: '20348',
    internalAddress: '10.77.0.205',
    network: 'flannel.4096',
  });
  before = remains();
  await bootFresh([cp], [cp]);
  const inventory = await lab.inventory([cp]);
  ({ file } = inventoryFile({
    ...inventory,
    name: 'core-windows',
    windows: { containerd: { version: VERSIONS.containerd } },
    hosts: [...inventory.hosts, windowsEntry(windows)],
  }));
});
afterAll(async () => {
  await windows.close();
  await lab.down([cp]);
});

test('up joins the Windows worker, which has its labels and taint', async () => {
  timed('1 control plane and a Windows worker', await up());
  expect(await nodes(cp)).toEqual({ [cp]: true, wcwin1: true });
  const node = JSON.parse(await kubectl(cp, 'get node wcwin1 -o json')) as {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: { readonly taints: readonly object[] };
  };
  expect(node.metadata.labels).toMatchObject({ 'node.kubernetes.io/windows-build': '10.0.20348' });
  expect(node.spec.taints).toEqual([{ key: 'os', value: 'windows', effect: 'NoSchedule' }]);
});

test('a second run changes nothing', async () => {
  unchanged(await up());
});

test('status names a service that stands still', async () => {
  expect((await well(() => kbuild('status', file))).stdout).not.toContain('trouble');
  await windows.control.stopService('containerd');
  const shown = async (): Promise<string> => (await kbuild('status', file)).stdout;
  await expect.poll(shown, { timeout: PATIENCE_MS }).toMatch(/trouble\n {2}wcwin1: containerd not running/);
  await windows.control.startService('containerd');
});

test('reset leaves the Windows host as it was, but for its features', async () => {
  ok(await kbuild('reset', file, '--yes-destroy', 'core-windows'));
  expect(remains()).toEqual(before);
  expect(windows.machine.features.get('Containers')).toBe('Installed');
});

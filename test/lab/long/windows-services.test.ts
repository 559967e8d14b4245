/**
 * A Windows worker whose flanneld and kube-proxy are services. They are only said to run; what they ask of the API server
 * they really ask, with the credentials of their node.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { flannel } from '../../../src/network/flannel.value.ts';
import { mixedFlannel } from '../../fakes/network.ts';
import { releases } from '../../windows/host/internet.ts';
import { leftovers } from '../../windows/host/machine.ts';
import { networkServices } from '../../windows/host/network-services.ts';
import type { SimulatedWindowsHost } from '../../windows/host/server.ts';
import { podSubnetAsNode, servicesAsNode } from '../../windows/kubelet/network-as-node.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { timed, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { windowsEntry, windowsLabHost } from '../windows.ts';

const cp = 'wicp1';
const SITE = 'https://files.example';
const sumOf = (file: string): string =>
  createHash('sha256')
    .update(releases(`${SITE}/${file}`)!)
    .digest('hex');
const files = ['nssm.exe', ...flannel.windows!.programs(mixedFlannel()).map(({ file }) => file)];

let folder: string;
let file: string;
let inventory: object;
let windows: SimulatedWindowsHost;
let before: object;

const up = (): Promise<Ran> => kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'));
const write = (changed: object): void => writeFileSync(file, stringify(changed, { aliasDuplicateObjects: false }));

beforeAll(async () => {
  windows = await windowsLabHost('wiwin1', {
    build: '26100',
    internalAddress: '10.77.0.212',
    network: 'none: flanneld is no pod',
    programs: networkServices({ subnet: podSubnetAsNode, proxied: servicesAsNode }),
  });
  before = { ...leftovers(windows.machine), features: undefined };
  await lab.up([cp]);
  await lab.reset([cp]);
  const linux = await lab.inventory([cp]);
  inventory = {
    ...linux,
    name: 'services',
    network: { windows: { services: true } },
    windows: {
      serviceManager: 'nssm',
      downloads: { nssm: SITE, network: SITE, sha256: Object.fromEntries(files.map((name) => [name, sumOf(name)])) },
    },
    hosts: [...linux.hosts, windowsEntry(windows)],
  };
  ({ folder, file } = inventoryFile(inventory));
});

afterAll(async () => {
  await windows.close();
  await lab.down([cp]);
});

test('up builds it: the services act as their node, and no pod of the network is on it', async () => {
  timed('1 control plane, 1 Windows worker with services', await up());
  expect(await nodes(cp)).toEqual({ [cp]: true, wiwin1: true });
  expect(await kubectl(cp, 'get daemonsets -A -o name')).not.toContain('windows');
  const flags = windows.machine.services.get('kube-proxy')?.parameters['AppParameters'] ?? '';
  const subnet = await kubectl(cp, "get node wiwin1 -o jsonpath='{.spec.podCIDR}'");
  expect(flags).toContain(`--source-vip=${subnet.replace(/\d+\/\d+$/, '2')}`);
});

test('a node may read no others without what it was given', async () => {
  const may = (what: string): Promise<string> =>
    kubectl(cp, `auth can-i ${what} --as=system:node:wiwin9 --as-group=system:nodes || true`);
  expect(await may('list nodes')).toMatch(/^no\b/);
  expect((await kubectl(cp, 'auth can-i list nodes --as=system:node:wiwin1 --as-group=system:nodes')).trim()).toBe(
    'yes',
  );
});

test('a second run changes nothing', async () => {
  unchanged(await up());
});

test('pods instead of services are refused while they run', async () => {
  write({ ...inventory, network: {} });
  const { code, stderr } = await up();
  expect(code, stderr).toBe(7);
  expect(stderr).toContain('flanneld and kube-proxy of its Windows hosts are services');
  write(inventory);
});

test('reset leaves the Windows host as it was, but for its features', async () => {
  timed('reset', await kbuild('reset', file, '--yes-destroy', 'services'));
  expect({ ...leftovers(windows.machine), features: undefined }).toEqual(before);
});

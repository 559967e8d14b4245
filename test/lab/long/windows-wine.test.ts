/**
 * A Windows worker whose programs are real, under wine: kubeadm.exe joins and resets it, and the kubelet's certificate is its
 * own. What Windows' services would do after that, the model does. Each network by itself, from bare hosts to bare hosts; the
 * tests of one build on each other, in this order.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { flannel } from '../../../src/network/flannel.value.ts';
import { windowsPaths } from '../../../src/paths.ts';
import { mixedFlannel } from '../../fakes/network.ts';
import { releases } from '../../windows/host/internet.ts';
import { filesOf, leftovers } from '../../windows/host/machine.ts';
import { networkServices } from '../../windows/host/network-services.ts';
import type { Program } from '../../windows/host/script.ts';
import { podSubnetAsNode, servicesAsNode } from '../../windows/kubelet/network-as-node.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { VERSIONS } from '../versions.ts';
import { WINDOWS_PROGRAMS, windowsPrograms, type WindowsPrograms } from '../windows-programs.ts';
import { patient, wineLabHost, type WineLabHost } from '../windows-wine.ts';
import { windowsEntry } from '../windows.ts';

const cp = 'wwcp1';
const win = 'wwwin1';
const BUILD_MS = 3 * 3_600_000;

const SITE = 'https://files.example';
const files = ['nssm.exe', ...flannel.windows!.programs(mixedFlannel()).map(({ file }) => file)];
const sumOf = (file: string): string =>
  createHash('sha256')
    .update(releases(`${SITE}/${file}`)!)
    .digest('hex');

interface Case {
  readonly name: string;
  readonly hns: string;
  readonly network: object;
  readonly windows: object;
  readonly programs: Readonly<Record<string, Program>>;
}

const CASES: readonly Case[] = [
  { name: 'overlay', hns: 'flannel.4096', network: {}, windows: {}, programs: {} },
  {
    name: 'host-gw',
    hns: 'cbr0',
    network: { plugin: 'flannel', flannel: { backend: 'host-gw' } },
    windows: {},
    programs: {},
  },
  {
    name: 'services',
    hns: 'none: flanneld is no pod',
    network: { windows: { services: true } },
    windows: {
      serviceManager: 'nssm',
      downloads: { nssm: SITE, network: SITE, sha256: Object.fromEntries(files.map((file) => [file, sumOf(file)])) },
    },
    programs: networkServices({ subnet: podSubnetAsNode, proxied: servicesAsNode }),
  },
];

let made: WindowsPrograms;

beforeAll(async () => {
  made = await windowsPrograms(WINDOWS_PROGRAMS);
}, BUILD_MS);

describe.each(CASES)('$name', ({ name, hns, network, windows, programs }) => {
  let folder: string;
  let file: string | undefined;
  let worker: WineLabHost;
  let before: object;
  const machine = () => worker.host.machine;
  const textOf = (path: string): string => filesOf(machine()).text(path) ?? '';
  const up = (): Promise<Ran> => kbuild('up', file!, '--yes', '--kubeconfig', join(folder, 'admin.conf'));
  const left = (): object => ({ ...leftovers(machine()), features: undefined });
  const linesOf: WineLabHost['linesOf'] = (program) => worker.linesOf(program);
  const write = async (kubelet: object): Promise<void> => {
    const linux = patient(await lab.inventory([cp]));
    const inventory = {
      ...linux,
      name,
      network,
      windows: { containerd: { version: VERSIONS.containerd }, ...windows },
      hosts: [...linux.hosts, { ...windowsEntry(worker.host), kubelet: { config: kubelet } }],
    };
    if (file === undefined) ({ folder, file } = inventoryFile(inventory));
    writeFileSync(file, stringify(inventory, { aliasDuplicateObjects: false }));
  };

  beforeAll(async () => {
    const about = { build: '20348', internalAddress: '10.77.0.215', network: hns, programs } as const;
    worker = await wineLabHost(win, about, made, WINDOWS_PROGRAMS);
    before = left();
    await lab.up([cp]);
    await lab.reset([cp]);
    await write({ containerLogMaxFiles: 7 });
  });

  afterAll(async () => {
    await worker.close();
    await lab.down([cp]);
  });

  test('up builds it, and kubeadm.exe joins the worker', async () => {
    timed(`${name}: 1 control plane, 1 Windows worker with real programs`, await up());
    expect(await nodes(cp)).toEqual({ [cp]: true, [win]: true });
    expect(linesOf('kubeadm.exe join')).toEqual(['kubeadm.exe join --config config.yaml']);
  });

  test('kubeadm.exe has written the flags, the configuration with drives, and the patch', () => {
    // In whatever order.
    for (const flag of ['--hostname-override=wwwin1', '--register-with-taints=os=windows:NoSchedule'])
      expect(textOf(windowsPaths.kubeletFlags)).toContain(flag);
    const config = parse(textOf(windowsPaths.kubeletConfig)) as Record<string, unknown>;
    expect(config).toMatchObject({
      containerLogMaxFiles: 7,
      resolvConf: '',
      staticPodPath: expect.stringMatching(/^C:/) as string,
      authentication: { x509: { clientCAFile: expect.stringMatching(/^C:/) as string } },
    });
  });

  test('the kubelet starts again without the bootstrap file, and finds its certificate', async () => {
    expect(filesOf(machine()).exists('C:\\etc\\kubernetes\\bootstrap-kubelet.conf')).toBe(false);
    expect(textOf(windowsPaths.kubeletConf)).toContain('C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem');
    const { length } = worker.kubeletStarts;
    await worker.host.control.stopService('kubelet');
    await worker.host.control.startService('kubelet');
    expect(worker.kubeletStarts).toHaveLength(length + 1);
    const { hadBootstrapFile, log } = worker.kubeletStarts.at(-1)!;
    expect(hadBootstrapFile).toBe(false);
    expect(log).not.toMatch(/unable to (?:read|load)|no such file/);
  });

  test('a second run changes nothing', async () => {
    unchanged(await up());
  });

  test('a setting of the kubelet is changed by kubeadm.exe', async () => {
    await write({ containerLogMaxFiles: 8 });
    ok(await up());
    expect(linesOf('kubeadm.exe upgrade')[0]).toContain('upgrade node phase kubelet-config --patches');
    expect(parse(textOf(windowsPaths.kubeletConfig))).toMatchObject({ containerLogMaxFiles: 8, resolvConf: '' });
    unchanged(await up());
  });

  test('reset by kubeadm.exe leaves the Windows host as it was, but for its features', async () => {
    timed(`${name}: reset`, await kbuild('reset', file!, '--yes-destroy', name));
    console.log(worker.summary());
    expect(linesOf('kubeadm.exe reset')).toEqual(['kubeadm.exe reset --config config.yaml']);
    expect(left()).toEqual(before);
  });
});

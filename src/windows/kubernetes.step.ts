import { stringify } from 'yaml';
import { runsOnWindows } from '../engine/combinators.ts';
import type { Step } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { networkPlugin, windowsServices } from '../network/plugins.value.ts';
import { programFolders, windowsPaths } from '../paths.ts';
import { powershell } from '../templates.ts';
import { windowsFile } from './file.step.ts';
import { writersOf } from './files.facts.ts';
import { WINDOWS_CRI_SOCKET } from './kubeadm.ts';
import { kubeletService } from './kubelet.step.ts';
import { isService } from './network/hns.step.ts';
import { kubernetesProgram, pinnedProgram, program, VERSION_ARGUMENTS } from './programs.step.ts';
import { NSSM } from './service.step.ts';

/**
 * Lets only administrators write to the folders whose programs SYSTEM runs. Those that Windows makes below C:\ let
 * every user make files in them, e.g. a library that a program loads. A folder of another account is refused, not taken
 * over.
 */
const protectedFolders: Step<'windows'> = {
  name: 'program-folders',
  watches: { access: programFolders },
  diff: ({ host, facts }) => {
    const open = programFolders.flatMap((path) => {
      const sddl = facts.access.get(path);
      if (sddl === undefined) return [{ path, found: 'none' }];
      const writers = writersOf(sddl);
      return writers.length === 0 ? [] : [{ path, found: `${writers.join(', ')} may write` }];
    });
    if (open.length === 0) return [];
    return [
      {
        summary: `protect ${open.map(({ path, found }) => `${path} (found ${found})`).join(', ')}`,
        disrupts: false,
        apply: runsOnWindows(host, powershell('windows/protect-folders.ps1', { Paths: open.map(({ path }) => path) })),
      },
    ];
  },
};

/** Installs the programs of a network plugin that is a service. The inventory has their checksums. */
const windowsNetworkPrograms: Step<'windows'> = {
  name: 'network-programs',
  watches: (about) =>
    isService(about)
      ? {
          files: (networkPlugin(about.inventory).windows?.programs(about.inventory.network) ?? []).map(
            ({ path }) => path,
          ),
        }
      : {},
  diff: (target) => {
    const { inventory, host } = target;
    const { windows } = networkPlugin(inventory);
    if (windows === undefined || !isService(target)) return [];
    return windows.programs(inventory.network).flatMap(({ file, path }) =>
      pinnedProgram(target, {
        name: file,
        version: undefined,
        url: `${host.windows.downloads.network}/${file}`,
        sumUrl: '',
        target: path,
        services: windows.services.filter((name) => file === `${name}.exe`),
      }),
    );
  },
};

const inPrograms = (file: string): string => `${windowsPaths.programs}\\${file}`;

const crictl = program({ name: 'crictl', path: inPrograms('crictl.exe'), ...VERSION_ARGUMENTS }, ({ host }) => {
  const { downloads, crictl: tool } = host.windows;
  const url = `${downloads.crictl}/crictl-v${tool.version}-windows-amd64.tar.gz`;
  return {
    name: 'crictl',
    version: tool.version,
    url,
    sumUrl: `${url}.sha256`,
    target: windowsPaths.programs,
    strip: 0,
    services: [],
  };
});

/**
 * Installs nssm with the checksum of the inventory. It is never run for its version: it has none to tell, and may open
 * a window.
 */
const nssm: Step<'windows'> = {
  name: 'nssm',
  watches: { files: [NSSM] },
  diff: (target) => {
    const { windows } = target.host;
    if (windows.serviceManager !== 'nssm') return [];
    const services = ['kube-proxy', ...windowsServices, 'kubelet'];
    const url = `${windows.downloads.nssm}/nssm.exe`;
    return pinnedProgram(target, { name: 'nssm', version: undefined, url, sumUrl: '', target: NSSM, services });
  },
};

const crictlConfig = windowsFile('crictl-config', windowsPaths.crictlConfig, () =>
  stringify({ 'runtime-endpoint': WINDOWS_CRI_SOCKET, 'image-endpoint': WINDOWS_CRI_SOCKET, timeout: 30 }),
);

/** Folders to which programs write logs, and which none of them creates. */
const desiredFolders = (inventory: Inventory): readonly string[] => [
  windowsPaths.kubeletLog,
  ...(inventory.network.windows?.services === true
    ? [...Object.values(networkPlugin(inventory).windows?.logs ?? {}), windowsPaths.kubeProxyLog]
    : []),
];

const folders: Step<'windows'> = {
  name: 'folders',
  watches: ({ inventory }) => ({ files: desiredFolders(inventory) }),
  diff: ({ inventory, host, facts }) => {
    const missing = desiredFolders(inventory).filter((path) => facts.files.at(path) === undefined);
    if (missing.length === 0) return [];
    return [
      {
        summary: `make ${missing.join(', ')}`,
        apply: runsOnWindows(host, powershell('windows/make-folders.ps1', { Paths: missing })),
      },
    ];
  },
};

/** Installs kubeadm, the kubelet and the programs that they need, and registers the kubelet's service. */
export const windowsKubernetes: readonly Step<'windows'>[] = [
  protectedFolders,
  crictl,
  crictlConfig,
  kubernetesProgram('kubeadm', { observed: { arguments: ['version', '-o', 'short'], exits: [] } }),
  kubernetesProgram('kubelet', { services: ['kubelet'] }),
  kubernetesProgram('kube-log-runner', {
    // kube-log-runner has no version flag: it prints its usage and exits with 1 or 2.
    observed: { arguments: ['--help'], exits: [1, 2] },
    version: 'any',
    services: ['kubelet'],
    when: ({ host }) => host.windows.serviceManager === 'native',
  }),
  nssm,
  folders,
  kubernetesProgram('kube-proxy', {
    services: ['kube-proxy'],
    when: ({ inventory }) => inventory.network.windows?.services === true,
  }),
  windowsNetworkPrograms,
  kubeletService,
];

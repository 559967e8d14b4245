import { stringify } from 'yaml';
import { WINDOWS_CRI_SOCKET } from '../cluster/windows-kubeadm.ts';
import type { Step } from '../engine/step.ts';
import { windowsPaths } from '../paths.ts';
import { runsOnWindows } from '../resources/runs.ts';
import { windowsFile } from '../resources/windows-file.ts';
import { powershell } from '../templates.ts';
import { kubeletService } from './kubelet.ts';
import { kubernetesProgram, program } from './programs.ts';

const crictl = program('crictl', ({ host }) => {
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

const nssm = program('nssm', ({ host: { windows } }) =>
  windows.serviceManager === 'nssm'
    ? {
        name: 'nssm',
        version: undefined,
        url: `${windows.downloads.nssm}/nssm.exe`,
        sumUrl: '',
        target: `${windowsPaths.programs}\\nssm.exe`,
        services: ['kubelet'],
      }
    : undefined,
);

const crictlConfig = windowsFile('crictl-config', windowsPaths.crictlConfig, () =>
  stringify({ 'runtime-endpoint': WINDOWS_CRI_SOCKET, 'image-endpoint': WINDOWS_CRI_SOCKET, timeout: 30 }),
);

/** Folders that nobody makes by himself: kube-log-runner writes into one, HostProcess pods copy into the other. */
const FOLDERS = [windowsPaths.kubeletLog, windowsPaths.cniBin];

const folders: Step<'windows'> = {
  name: 'folders',
  diff: ({ host, facts }) => {
    const missing = FOLDERS.filter((path) => facts.files.at(path) === undefined);
    if (missing.length === 0) return [];
    return [
      {
        summary: `make ${missing.join(', ')}`,
        apply: runsOnWindows(host, powershell('windows/make-folders.ps1', { Paths: missing })),
      },
    ];
  },
};

/** kubeadm, the kubelet and what they need, the kubelet registered as a service. */
export const windowsKubernetes: readonly Step<'windows'>[] = [
  crictl,
  crictlConfig,
  kubernetesProgram('kubeadm'),
  kubernetesProgram('kubelet', { services: ['kubelet'] }),
  kubernetesProgram('kube-log-runner', {
    version: 'any',
    services: ['kubelet'],
    when: ({ host }) => host.windows.serviceManager === 'native',
  }),
  nssm,
  folders,
  kubeletService,
];

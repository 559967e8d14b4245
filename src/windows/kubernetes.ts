import { stringify } from 'yaml';
import { WINDOWS_CRI_SOCKET } from '../cluster/windows-kubeadm.ts';
import type { Step } from '../engine/step.ts';
import { windowsPaths } from '../paths.ts';
import { windowsFile } from '../resources/windows-file.ts';
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
  kubeletService,
];

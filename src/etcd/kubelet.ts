import { dirname } from 'node:path/posix';
import { criEndpoint } from '../components/runtimes/index.ts';
import { toYaml } from '../configuration/secret-yaml.ts';
import type { Step } from '../engine/step.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import { merged } from '../model/merge.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { file } from '../resources/file.ts';
import { unitQuoted } from '../resources/proxy-drop-in.ts';
import { kubeletFolder } from '../resources/programs.ts';
import { service } from '../resources/service.ts';

/** The configuration of a kubelet without a cluster, which only runs the static pods of its host. */
const kubeletConfig = (inventory: Inventory, host: LinuxHost): string =>
  toYaml([
    merged(
      {
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        address: '127.0.0.1',
        authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
        authorization: { mode: 'AlwaysAllow' },
        staticPodPath: dirname(paths.etcdManifest),
        containerRuntimeEndpoint: criEndpoint(inventory, host),
      },
      { ...host.kubelet.config, cgroupDriver: inventory.runtime.cgroupDriver },
    ),
  ]);

const config = file('etcd-kubelet-config', {
  path: paths.etcdKubeletConfig,
  content: ({ inventory, host }) => `${OWN_HEADER}.\n${kubeletConfig(inventory, host)}`,
});

/** Overrides kubeadm's own drop-in, with which the kubelet would wait for a cluster. */
const dropIn = file('etcd-kubelet-unit', {
  path: paths.etcdKubeletDropIn,
  content: (target) => {
    const { host } = target;
    const own = host.kubelet.extraArgs.map(({ name, value }) => unitQuoted(`--${name}=${value}`));
    const command = [`${kubeletFolder(target)}/kubelet`, `--config=${paths.etcdKubeletConfig}`, ...own].join(' ');
    return `${OWN_HEADER}.\n[Service]\nExecStart=\nExecStart=${command}\nRestart=always\n`;
  },
});

/** Runs the kubelet of a host of role etcd, which starts etcd. It connects to no API server. */
export const etcdKubelet: readonly Step[] = [
  config,
  dropIn,
  service('kubelet', { uses: [paths.etcdKubeletConfig, dirname(paths.etcdKubeletDropIn)], after: [config, dropIn] }),
];

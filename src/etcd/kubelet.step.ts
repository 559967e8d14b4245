import { dirname } from 'node:path/posix';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target } from '../engine/step.ts';
import { file } from '../host/file.step.ts';
import { kubeletFolder } from '../host/packages/programs.step.ts';
import { service, unitQuoted } from '../host/service.step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { merged } from '../inventory/merge.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { driverChange, keptByEtcdKubelet, podsAnew, podsAnewSummary } from '../runtime/cgroup-driver.step.ts';
import { criEndpoint } from '../runtime/runtimes.value.ts';
import { toYaml } from '../shell/yaml.ts';

/** The configuration of a kubelet without a cluster, which only runs the static pods of its host. */
const kubeletConfig = ({ inventory, host }: Target, cgroupDriver: Inventory['runtime']['cgroupDriver']): string =>
  `${OWN_HEADER}.\n${toYaml([
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
      { ...host.kubelet.config, cgroupDriver },
    ),
  ])}`;

const config = file('etcd-kubelet-config', {
  path: paths.etcdKubeletConfig,
  content: (target) => kubeletConfig(target, keptByEtcdKubelet(target)),
});

/**
 * The same configuration with the inventory's cgroup driver, even if the pods of the host run under the other driver.
 */
const configByDriver = file('etcd-kubelet-config', {
  path: paths.etcdKubeletConfig,
  content: (target) => kubeletConfig(target, target.inventory.runtime.cgroupDriver),
});

/**
 * Configures the kubelet of a host of role etcd for the inventory's cgroup driver, and restarts its etcd, which must
 * not stay in a cgroup of the other driver. Runs after the runtime has the inventory's driver.
 */
export const etcdByDriver: Step = {
  name: 'etcd-by-driver',
  watches: configByDriver.watches!,
  settleMs: 60_000,
  diff: (target) => {
    const { host } = target;
    const change = host.role === 'etcd' ? driverChange(target) : undefined;
    if (change === undefined) return [];
    return [
      {
        summary: podsAnewSummary(target, change),
        disrupts: true,
        restarts: [{ what: 'etcd', hosts: [host.name], aboutMs: ABOUT_MS.staticPod, atOnce: 1 }],
        apply: async (on) => {
          for (const { apply } of configByDriver.diff(target)) await apply?.(on);
          await on(host).job('pods-anew', podsAnew(target, paths.etcdKubeletConfig));
        },
      },
    ];
  },
};

/** Overrides kubeadm's own drop-in. With that drop-in the kubelet would wait for a cluster. */
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

import { compareVersions } from '../versions.ts';
import { eachHost } from './each-host.ts';

/** Kubernetes documentation, "Linux Kernel Version Requirements". */
const MINIMUM = '4.19';
const NFTABLES = '5.13';

export const kernelVersion = eachHost(
  {
    name: 'kernel-version',
    title: 'the kernel is 4.19 or newer, and 5.13 or newer where kube-proxy uses nftables',
    why: 'Kubernetes documents these minimums ("Linux Kernel Version Requirements"). ipvs is deprecated since Kubernetes 1.35: use iptables (the default) or nftables in `kubeadm.kubeProxy.mode`.',
    severities: ['error', 'warning'],
  },
  ({ inventory, facts }) => {
    const version = /^\d+(?:\.\d+)*/.exec(facts.kernel)?.[0] ?? '0';
    const mode = inventory.kubeadm.kubeProxy['mode'];
    const [needed, what] = mode === 'nftables' ? [NFTABLES, 'kube-proxy with nftables'] : [MINIMUM, 'Kubernetes'];
    return [
      ...(compareVersions(version, needed) >= 0
        ? []
        : [
            {
              severity: 'error' as const,
              message: `runs kernel ${facts.kernel}, and ${what} needs ${needed}`,
              remedy: 'install a newer kernel and reboot',
            },
          ]),
      ...(mode === 'ipvs' && compareVersions(inventory.kubernetes.minor, '1.35') >= 0
        ? [
            {
              severity: 'warning' as const,
              message: 'kube-proxy would use ipvs, which is deprecated since Kubernetes 1.35',
              remedy: 'set kubeadm.kubeProxy.mode: nftables, or leave it out',
            },
          ]
        : []),
    ];
  },
);

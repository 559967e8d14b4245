import { knownDistribution } from '../components/distributions/index.ts';
import { compareVersions } from '../versions.ts';
import { eachHost } from './each-host.ts';

export const kubeProxyMode = eachHost(
  {
    name: 'kube-proxy-mode',
    title: 'kube-proxy does not need kernel modules that the system deprecates',
    why: 'kube-proxy writes rules of iptables unless the inventory says otherwise. EL 10 ([hosts](hosts.md)) deprecates their kernel modules, of which some are in `kernel-modules-extra` alone. Set `kubeadm.kubeProxy.mode: nftables`: it holds for the whole cluster, needs kernel 5.13 on all Linux hosts, and `up` changes it on a live cluster as well. NodePorts are then on the main addresses of a node alone, not on 127.0.0.1. The network plugin that kbuild installs by default then writes its rules with nftables as well ([changing a cluster](changing-a-cluster.md)); others may go on to write rules of iptables.',
    severities: ['warning'],
  },
  ({ inventory, host, facts }) => {
    const mode = inventory.kubeadm.kubeProxy['mode'] ?? 'iptables';
    const distribution = knownDistribution(facts);
    const isNode = host.role === 'control-plane' || host.role === 'worker';
    if (!isNode || mode !== 'iptables' || distribution?.nftablesSince === undefined) return [];
    if (compareVersions(facts.osRelease.versionId, distribution.nftablesSince) < 0) return [];
    return [
      {
        severity: 'warning',
        message: `${distribution.name} deprecates the kernel modules of iptables, which kube-proxy would use`,
        remedy: 'set kubeadm.kubeProxy.mode: nftables, for the whole cluster',
      },
    ];
  },
);

import type { LinuxFacts } from '../cluster/fleet/linux.ts';
import { type CheckGroup, eachHost } from '../engine/check.ts';
import { knownDistribution } from '../host/packages/distributions.value.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { hasKubeProxy } from '../inventory/network-plugins.ts';
import { compareVersions } from '../versions.ts';

/**
 * The first patch of each minor whose image of kube-proxy has the mended nft (distroless-iptables 0.8.12 and 0.9.4 have
 * nft 1.0.6.1; kubernetes/kubernetes #136786, #140405). Source: build/common.sh of the releases; that of 1.35.7 was
 * not read.
 */
const MENDED: Readonly<Record<string, string>> = { '1.34': '1.34.10', '1.35': '1.35.8', '1.36': '1.36.3' };

/** The first patch with the mended nft if this version lacks it. */
function mendedIn({ kubernetes: { version, minor } }: Inventory): string | undefined {
  const first = MENDED[minor];
  return first !== undefined && compareVersions(version, first) < 0 ? first : undefined;
}

const kubeProxyNft = eachHost(
  {
    name: 'kube-proxy-nft',
    title: "kube-proxy's nft understands what the host's nft writes",
    why:
      'With `network.kubeProxy: nftables` the image of kube-proxy runs an nft of its own. Up to Kubernetes ' +
      '1.34.9, 1.35.7 and 1.36.2 it dies (segmentation fault) at a named set that nft 1.1.3 or newer has made: ' +
      'those of firewalld, fail2ban or /etc/nftables.conf on new systems. Services then have no ' +
      'rules. Upgrade to 1.34.10, 1.35.8 or 1.36.3 ' +
      '([kubernetes/kubernetes #136786](https://github.com/kubernetes/kubernetes/issues/136786)), or use iptables.',
    severities: ['warning'],
  },
  ({ inventory, host, facts }) => {
    const mended = mendedIn(inventory);
    const since = knownDistribution(facts)?.newNftSince;
    const isOld = since !== undefined && compareVersions(facts.osRelease.versionId, since) < 0;
    const isNode = host.role === 'control-plane' || host.role === 'worker';
    if (inventory.kubeadm.kubeProxy['mode'] !== 'nftables' || mended === undefined || isOld || !isNode) return [];
    return [
      {
        severity: 'warning',
        message:
          `kube-proxy ${inventory.kubernetes.version} dies at a named set that nft 1.1.3 or newer has made, e.g. of ` +
          'firewalld or fail2ban',
        remedy: `set kubernetes.version: ${mended} or newer, or network.kubeProxy: iptables`,
      },
    ];
  },
);

/** kube-proxy's mode by the inventory. */
function modeOf({ kubeadm }: Inventory): string {
  const { mode } = kubeadm.kubeProxy;
  return typeof mode === 'string' ? mode : 'iptables';
}

const kubeProxyMode = eachHost(
  {
    name: 'kube-proxy-mode',
    title: 'kube-proxy does not need kernel modules that the system deprecates',
    why:
      'kube-proxy writes iptables rules unless the inventory says otherwise. EL 10 ([hosts](hosts.md)) ' +
      'deprecates the kernel modules of iptables; some of them are only in `kernel-modules-extra`. Set ' +
      '`network.kubeProxy: nftables`, from Kubernetes 1.34.10, 1.35.8 or 1.36.3 on (kube-proxy-nft): it holds ' +
      'for the whole cluster, needs kernel 5.13 on all Linux hosts, ' +
      'and `up` changes it on a live cluster too. NodePorts are then only on the main addresses of a node, not ' +
      'on 127.0.0.1. The default network plugin then writes nftables rules too ([changing a ' +
      'cluster](changing-a-cluster.md)); other plugins may still write iptables rules.',
    severities: ['warning'],
  },
  ({ inventory, host, facts }) => {
    const mode = modeOf(inventory);
    const distribution = knownDistribution(facts);
    const older = mendedIn(inventory);
    const isNode = host.role === 'control-plane' || host.role === 'worker';
    if (!hasKubeProxy(inventory) || !isNode || mode !== 'iptables' || distribution?.nftablesSince === undefined)
      return [];
    if (compareVersions(facts.osRelease.versionId, distribution.nftablesSince) < 0) return [];
    return [
      {
        severity: 'warning',
        message: `${distribution.name} deprecates the kernel modules of iptables, which kube-proxy would use`,
        remedy:
          'set network.kubeProxy: nftables, for the whole cluster' +
          (older === undefined ? '' : `, with kubernetes.version: ${older} or newer: the nft of this one may die`),
      },
    ];
  },
);

/** What a host has of a mode of kube-proxy that the one of the inventory does not remove; undefined if nothing. */
function leftOf(
  mode: string,
  { interfaces, kubeChains }: LinuxFacts,
): readonly [mode: string, what: string] | undefined {
  if (mode === 'iptables' && interfaces.some(({ name }) => name === 'kube-ipvs0')) return ['ipvs', 'kube-ipvs0'];
  const chain = mode === 'ipvs' ? kubeChains.find((name) => name.startsWith('KUBE-SVC-')) : undefined;
  return chain === undefined ? undefined : ['iptables', chain];
}

const kubeProxyLeftovers = eachHost(
  {
    name: 'kube-proxy-leftovers',
    title: 'a node has no rules of a mode of kube-proxy that nothing updates any more',
    why:
      'kube-proxy removes the rules of its former mode when it starts, but not between iptables and ipvs ' +
      '(`platformCleanup` in its server_linux.go, 1.36.3 and 1.37.1). What is left, the addresses of Services on ' +
      'kube-ipvs0 or chains of iptables, stays as it was on that day. By way of nftables kube-proxy removes all of it.',
    severities: ['warning'],
  },
  ({ inventory, host, facts }) => {
    // A host that is no node yet: `leftovers` says so.
    if (!hasKubeProxy(inventory) || facts.kubernetesTraces.size === 0) return [];
    const mode = modeOf(inventory);
    const found = leftOf(mode, facts);
    if (found === undefined) return [];
    const [former, what] = found;
    return [
      {
        severity: 'warning',
        message: `has rules of kube-proxy's mode ${former} (${what}), which kube-proxy does not remove in mode ${mode}`,
        remedy:
          'run `kbuild up` with network.kubeProxy: nftables, and then with the mode that you want; or restart the ' +
          `host: kbuild reboot --all ${host.name}`,
      },
    ];
  },
);

export const kubeProxyChecks: CheckGroup = { host: [kubeProxyMode, kubeProxyNft, kubeProxyLeftovers] };

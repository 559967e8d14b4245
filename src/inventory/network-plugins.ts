import { isObject, type JsonObject } from '../shell/decode.ts';

/**
 * The hosts that connect to a port. `itself`: the program listens on the loopback interface, or only its host uses it.
 */
export type Client = 'everybody' | 'control-planes' | 'nodes' | 'itself';

/** A port that a host of a role listens at once the cluster stands. */
export interface ListeningPort {
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
  /** The program, as `ss` names it. */
  readonly program: string;
  readonly from: Client;
}

/** Settings of flannel. */
export interface Flannel {
  readonly image: string;
  readonly cniPluginImage: string;
  readonly backend: 'vxlan' | 'host-gw';
  /** UDP port and identifier of VXLAN. Windows hosts need port 4789 and an identifier of at least 4096. */
  readonly port: number;
  readonly vni: number;
  /** True: flanneld writes its rules with nftables on Linux hosts; otherwise with iptables. */
  readonly nftables: boolean;
}

/** Settings of Calico, which its operator installs. */
export interface Calico {
  /** Registry, and path if there is one, of Calico's images. Default: the operator's own. */
  readonly imageRepository?: string;
  /** How packets reach pods of other hosts, in the words of the operator. */
  readonly encapsulation: 'VXLAN' | 'VXLANCrossSubnet' | 'IPIP' | 'IPIPCrossSubnet' | 'None';
  /** True: nodes tell each other by BGP where pods are. */
  readonly bgp: boolean;
  /** True: packets between pods of different hosts are encrypted. */
  readonly wireguard: boolean;
}

/** Settings of Cilium. */
export interface Cilium {
  readonly version: string;
  /** How packets reach pods of other hosts; `native`: by routes. */
  readonly routing: 'vxlan' | 'geneve' | 'native';
  /** Who divides the pod network among the nodes. */
  readonly ipam: 'kubernetes' | 'cluster-pool';
  /** UDP port of the tunnel; undefined without one. */
  readonly port: number | undefined;
  /** True: packets between pods of different hosts are encrypted. */
  readonly wireguard: boolean;
  readonly hubble: boolean;
  /** True: Cilium serves Services instead of kube-proxy. */
  readonly replacesKubeProxy: boolean;
}

/** The network of Windows hosts. */
interface WindowsNetwork {
  /** True: the network plugin and kube-proxy are services of the hosts, not pods. */
  readonly services: boolean;
  readonly kubeProxyImage: string;
}

/** flannel and kube-proxy on Windows hosts. */
export interface WindowsFlannel extends WindowsNetwork {
  /** Type of the HNS network: overlay, or l2bridge. */
  readonly mode: 'overlay' | 'host-gw';
  readonly flannelImage: string;
}

/** Calico on Windows hosts: its operator installs it, and kbuild installs kube-proxy. */
interface WindowsCalico extends WindowsNetwork {
  readonly mode: 'calico';
  readonly services: false;
}

/**
 * The network plugin and its settings. `windows` is undefined where there are no Windows hosts, or kbuild installs no
 * network on them.
 */
export type PluginSettings = NetworkServices &
  (
    | { readonly plugin: 'flannel'; readonly flannel: Flannel; readonly windows: WindowsFlannel | undefined }
    | { readonly plugin: 'calico'; readonly calico: Calico; readonly windows: WindowsCalico | undefined }
    | { readonly plugin: 'cilium'; readonly cilium: Cilium; readonly windows: undefined }
    | { readonly plugin: 'none'; readonly windows: undefined }
  );

/** Who can answer for addresses of Services. */
export const BALANCER_KINDS = ['metallb', 'kube-vip', 'cilium'] as const;

/** Who gives Services of type LoadBalancer addresses, and answers for them. */
export interface ServiceBalancers {
  readonly kind: (typeof BALANCER_KINDS)[number];
  /** Networks and ranges (`first-last`), by names of pools. */
  readonly pools: Readonly<Record<string, readonly string[]>>;
  /** Interfaces of nodes at which they are answered for; empty: all. */
  readonly interfaces: readonly string[];
  /** Of kube-vip. */
  readonly image: string;
  readonly providerImage: string;
  /** Of MetalLB, as its project publishes them. */
  readonly manifests: readonly { readonly source: string; readonly objects: readonly JsonObject[] }[];
}

/** A cache of DNS on every node. */
interface NodeLocalDns {
  readonly image: string;
  readonly address: string;
}

/** What the network has beside its plugin. */
interface NetworkServices {
  readonly loadBalancers?: ServiceBalancers;
  readonly nodeLocalDns?: NodeLocalDns;
}

/** A value of `network.plugin`. */
export type PluginName = PluginSettings['plugin'];

/** False for a cluster without kube-proxy. */
export const hasKubeProxy = ({ kubeadm }: { readonly kubeadm: { readonly cluster: JsonObject } }): boolean => {
  const { proxy } = kubeadm.cluster;
  return !isObject(proxy) || proxy['disabled'] !== true;
};

/** The settings of one network plugin. */
export type SettingsOf<P extends PluginName> = PluginSettings & { readonly plugin: P };

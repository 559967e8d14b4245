import type { Host, Inventory } from '../inventory/inventory.ts';
import type { ListeningPort, PluginName, SettingsOf, UnbuiltPlugin } from '../inventory/network-plugins.ts';

/** An inventory with this network plugin. */
export type InventoryWith<P extends PluginName> = Inventory & { readonly network: { readonly plugin: P } };

/** The pods of a network plugin that run on every Linux node, from its DaemonSet. */
interface Agent {
  readonly label: { readonly name: string; readonly value: string };
  /** Key of its DaemonSet, or of the object that brings it, in the record of what kbuild applied. */
  readonly object: string;
  /** The file that its pods write to /etc/cni/net.d. */
  readonly cniConfig: string;
  /** The command that prints its logs. */
  readonly logs: string;
}

/** What a network plugin leaves in the network of a Linux host, and reset removes. */
interface Leftovers {
  readonly interfaces: RegExp;
  /**
   * True: the host has routes to nowhere (`blackhole`) inside podSubnet, which would swallow packets of the next
   * network.
   */
  readonly blackholes: boolean;
}

/** A network program of Windows hosts that is not part of a Kubernetes release. */
interface NetworkProgram {
  readonly file: string;
  /** Where it lies on the host. */
  readonly path: string;
}

/** What other parts of kbuild know about a network plugin on Windows hosts. */
export interface WindowsPlugin<P extends PluginName = PluginName> {
  /** Names of the HNS networks that it creates, with any settings. */
  readonly hnsNetworks: RegExp;
  /** Its services, where they replace pods (`network.windows.services`); empty: it only runs as pods. */
  readonly services: readonly string[];
  /** Folders that it writes, which reset removes. */
  readonly folders: readonly string[];
  /** Files in its folders and in those of CNI that kbuild must observe. */
  readonly files: readonly string[];
  /** Folders that belong to one Node object: they must be gone before the host joins again. */
  readonly ofNode: readonly string[];
  /** Folders with the logs of its services, by service. */
  readonly logs: Readonly<Record<string, string>>;
  /** The HNS network to which it connects pods. */
  hnsNetwork(settings: SettingsOf<P>): string;
  /** Images of its pods that kbuild applies. */
  images(settings: SettingsOf<P>): readonly string[];
  /** Programs that its services need. */
  programs(settings: SettingsOf<P>): readonly NetworkProgram[];
}

/** What other parts of kbuild know about a network plugin. The steps that install it are in src/network. */
export interface NetworkPlugin<P extends PluginName = PluginName> {
  /** As in `network.plugin`. */
  readonly name: P;
  /** As its project writes it. */
  readonly title: string;
  /** False: kbuild has no steps that install it, and `validate` refuses an inventory with it. */
  readonly isSupported: P extends UnbuiltPlugin ? false : true;
  /** undefined: the user installs the network. */
  readonly agent: Agent | undefined;
  /** Namespaces of its pods and of its operator, beside kube-system. */
  readonly namespaces: readonly string[];
  /** The namespace of the operator that creates its pods. */
  readonly operatorNamespace?: string;
  /** The namespace that kbuild creates for it, and may delete with everything in it. */
  readonly ownNamespace?: string;
  /** Files and folders on Linux hosts that reset removes; `*` stands for any characters. */
  readonly files: readonly string[];
  /** Interfaces on Linux hosts, with any settings. */
  readonly interfaces: RegExp;
  /** Names of these interfaces, for the settings of network services; `*` stands for any characters. */
  readonly interfaceNames: readonly string[];
  /** How the names of its chains in the packet filter begin. */
  readonly chains: readonly string[];
  /** Names of its tables in nftables; missing: none that kbuild removes. */
  readonly tables?: readonly string[];
  /** Interfaces and files that belong to one Node object: they must be gone before the host registers again. */
  readonly ofNode: { readonly interfaces: readonly string[]; readonly files: readonly string[] };
  /** Fields of `kubeadm:` that it decides, with the reason: `cluster.proxy.disabled`. */
  readonly owns: Readonly<Record<string, string>>;
  /** True: its pods reach the API server by the address of its Service. */
  readonly needsKubeProxy?: true;
  /** True: pods have addresses of their node's part of the pod network (`podCIDR`) alone. */
  readonly addressesFromNode?: true;
  /** undefined: kbuild does not install it on Windows hosts. */
  readonly windows: WindowsPlugin<P> | undefined;
  /** UDP port of VXLAN between hosts; undefined: it does not use VXLAN. */
  vxlanPort(inventory: InventoryWith<P>): number | undefined;
  /** Bytes that a packet grows by between hosts, over IPv4. */
  overheadBytes(inventory: InventoryWith<P>): number;
  /** Ports that it listens at on a Kubernetes node. */
  ports(inventory: InventoryWith<P>, host: Host): readonly ListeningPort[];
  /** Images of its pods on Linux nodes whose names kbuild knows. */
  images(inventory: InventoryWith<P>): readonly string[];
  leaves(inventory: InventoryWith<P>): Leftovers;
}

/** On the pods of a DaemonSet that kbuild made for a network plugin: a hash of its configuration. */
export const CONFIG_ANNOTATION = 'kbuild.dev/config';

/** Bytes of the outer Ethernet, IPv4, UDP and VXLAN headers. */
export const VXLAN_BYTES = 50;

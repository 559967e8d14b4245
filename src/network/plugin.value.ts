import { hasIpv6 } from '../inventory/addresses.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import type { ListeningPort, PluginName, SettingsOf } from '../inventory/network-plugins.ts';
import { isObject } from '../shell/decode.ts';

/** `btf`: the types of the running kernel, in /sys/kernel/btf. `bpffs`: the file system of BPF. */
export type KernelFeature = 'btf' | 'bpffs';

/** An inventory with this network plugin. */
export type InventoryWith<P extends PluginName> = Inventory & { readonly network: { readonly plugin: P } };

/** The pods of a network plugin that run on every Linux node, from its DaemonSet. */
interface Agent {
  readonly label: { readonly name: string; readonly value: string };
  /**
   * A key in kbuild's record of applied objects: of its DaemonSet, or of the object from which its operator creates
   * that.
   */
  readonly object: string;
  /** The file that its pods write to /etc/cni/net.d. */
  readonly cniConfig: string;
  /** The command that prints its logs. */
  readonly logs: string;
}

/** Leftovers of a network plugin in the network of a Linux host. `reset` removes them. */
interface Leftovers {
  readonly interfaces: RegExp;
  /** True: the host has `blackhole` routes inside podSubnet. They would drop packets of the next pod network. */
  readonly blackholes: boolean;
  /** True: the kernel has BPF programs, rules for routes and a mount of it. */
  readonly programs?: true;
}

/** A network program of Windows hosts that is not part of a Kubernetes release. */
interface NetworkProgram {
  readonly file: string;
  /** Its path on the host. */
  readonly path: string;
}

/** Properties of a network plugin on Windows hosts, for other parts of kbuild. */
export interface WindowsPlugin<P extends PluginName = PluginName> {
  /** Matches the names of the HNS networks that it creates, whatever its settings are. */
  readonly hnsNetworks: RegExp;
  /** The services that replace its pods with `network.windows.services`; empty if it only runs as pods. */
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
  /** Why a Windows node need not reach pods of other nodes; missing or undefined: it must. */
  nodeLimit?(settings: SettingsOf<P>): string | undefined;
  /** Programs that its services need. */
  programs(settings: SettingsOf<P>): readonly NetworkProgram[];
}

/** Properties of a network plugin, for other parts of kbuild. `*.step.ts` of this folder installs it. */
export interface NetworkPlugin<P extends PluginName = PluginName> {
  /** Its name in `network.plugin`. */
  readonly name: P;
  /** Its name as its project writes it. */
  readonly title: string;
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
  /** Matches the names of its interfaces on Linux hosts, whatever its settings are. */
  readonly interfaces: RegExp;
  /** Names of these interfaces, for the settings of network services; `*` stands for any characters. */
  readonly interfaceNames: readonly string[];
  /** Prefixes of the names of its chains in the packet filter. */
  readonly chains: readonly string[];
  /** Names of its tables in nftables; missing: none that kbuild removes. */
  readonly tables?: readonly string[];
  /** Interfaces and files that belong to one Node object: they must be gone before the host registers again. */
  readonly ofNode: { readonly interfaces: readonly string[]; readonly files: readonly string[] };
  /** Fields of `kubeadm:` that the plugin decides, e.g. `cluster.proxy.disabled`, each with the reason. */
  readonly owns: Readonly<Record<string, string>>;
  /** True: its pods reach the API server by the address of its Service. */
  readonly needsKubeProxy?: true;
  /** True: a pod's address is always in its node's part of the pod network (`podCIDR`). */
  readonly addressesFromNode?: true;
  /** What it needs of the kernel of Linux nodes, beside what Kubernetes needs. */
  readonly kernel?: { readonly least: string; readonly features: readonly KernelFeature[] };
  /** undefined: kbuild does not install it on Windows hosts. */
  readonly windows: WindowsPlugin<P> | undefined;
  /** UDP port of VXLAN between hosts; undefined: it does not use VXLAN. */
  vxlanPort(inventory: InventoryWith<P>): number | undefined;
  /** Bytes that the plugin adds to a packet between hosts, at most. */
  overheadBytes(inventory: InventoryWith<P>): number;
  /** Ports at which it listens on a Kubernetes node. */
  ports(inventory: InventoryWith<P>, host: Host): readonly ListeningPort[];
  /** Images of its pods on Linux nodes whose names kbuild knows. */
  images(inventory: InventoryWith<P>): readonly string[];
  leaves(inventory: InventoryWith<P>): Leftovers;
}

/** The images of the containers in an object, at any depth. */
export function imagesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(imagesIn);
  if (!isObject(value)) return [];
  const own = typeof value['image'] === 'string' && typeof value['name'] === 'string' ? [value['image']] : [];
  return [...own, ...Object.values(value).flatMap(imagesIn)];
}

/** On the pods of a DaemonSet that kbuild made for a network plugin: a hash of its configuration. */
export const CONFIG_ANNOTATION = 'kbuild.dev/config';

/** Bytes of the outer Ethernet, IP, UDP and VXLAN headers: the header of IPv6 has 20 more than that of IPv4. */
export const vxlanBytes = (inventory: Inventory): number => (hasIpv6(inventory) ? 70 : 50);

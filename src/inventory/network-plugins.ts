/** What of a network plugin others must know than the one who makes its objects. */
interface NetworkPlugin {
  /** Of its pods on Linux hosts. */
  readonly label: { readonly name: string; readonly value: string };
  /** Where its pods are, and those of what makes them. */
  readonly namespaces: readonly string[];
  /** The file that its pods write to /etc/cni/net.d. */
  readonly cniConfig: string;
  /** How its logs are read. */
  readonly logs: string;
}

/** The network plugins that kbuild installs, by `network.plugin`. */
export const NETWORK_PLUGINS = {
  flannel: {
    label: { name: 'app', value: 'flannel' },
    namespaces: ['kube-flannel'],
    cniConfig: '10-flannel.conflist',
    logs: 'kubectl -n kube-flannel logs -l app=flannel',
  },
  calico: {
    label: { name: 'k8s-app', value: 'calico-node' },
    namespaces: ['calico-system', 'tigera-operator'],
    cniConfig: '10-calico.conflist',
    logs: 'kubectl -n calico-system logs -l k8s-app=calico-node',
  },
} as const satisfies Readonly<Record<string, NetworkPlugin>>;

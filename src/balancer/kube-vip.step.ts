import { founder, standing } from '../cluster/standing.ts';
import { runs } from '../engine/combinators.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target, Unobserved } from '../engine/step.ts';
import { fileChanges, fileState } from '../host/file.step.ts';
import { UNCONFINED } from '../host/kernel.value.ts';
import { asCidr, familyOf, loopbackOf, widthOf } from '../inventory/addresses.ts';
import type { KubeVipBalancer } from '../inventory/control-plane.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import type { Watches } from '../shell/watched.ts';
import { toYaml } from '../shell/yaml.ts';
import { script } from '../templates.ts';

/**
 * The credentials with which kube-vip elects its leader. During `kubeadm init` admin.conf has no rights yet, because
 * kubeadm creates its ClusterRoleBinding late (since Kubernetes 1.29). Until then the founder's kube-vip uses
 * super-admin.conf.
 */
type Credentials = 'admin.conf' | 'super-admin.conf';

/** A name of the API server on its own host: kubeadm puts it into each certificate. */
const LOCAL_NAME = 'kubernetes';

/**
 * kube-vip's static pod in ARP mode: the virtual address is on the interface of the leader. `isConfined`: SELinux
 * confines containers.
 */
export function kubeVipPod(
  { address, port, image }: KubeVipBalancer,
  interfaceName: string,
  credentials: Credentials,
  isConfined = false,
): string {
  const env = {
    vip_arp: 'true',
    port: String(port),
    // kube-vip connects to the API server of its own host, by a name that is in the certificate of every API server: no
    // server answers at the virtual address before kube-vip holds it. Without this variable, kube-vip since 1.2
    // connects to the server in the kubeconfig.
    kubernetes_addr: `https://${LOCAL_NAME}:${String(port)}`,
    vip_interface: interfaceName,
    vip_subnet: String(widthOf(familyOf(address))),
    cp_enable: 'true',
    cp_namespace: 'kube-system',
    vip_leaderelection: 'true',
    vip_leasename: 'plndr-cp-lock',
    vip_leaseduration: '5',
    vip_renewdeadline: '3',
    vip_retryperiod: '1',
    // kube-vip's metrics need no login, so kube-vip serves them to its own host only.
    prometheus_server: '127.0.0.1:2112',
    address,
  };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'kube-vip', namespace: 'kube-system', labels: { component: 'kube-vip' } },
    spec: {
      hostNetwork: true,
      hostAliases: [{ hostnames: [LOCAL_NAME], ip: loopbackOf(address) }],
      priorityClassName: 'system-node-critical',
      // kube-vip reads a file of the host. SELinux forbids that to confined containers.
      ...(isConfined ? { securityContext: UNCONFINED } : {}),
      containers: [
        {
          name: 'kube-vip',
          image,
          imagePullPolicy: 'IfNotPresent',
          args: ['manager'],
          env: [
            ...Object.entries(env)
              .filter(([, value]) => value !== '')
              .map(([name, value]) => ({ name, value })),
            // The name of the node identifies the holder of the lease, even if the host has another name.
            { name: 'vip_nodename', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
          ],
          securityContext: { capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] } },
          volumeMounts: [{ name: 'kubeconfig', mountPath: paths.adminConf, readOnly: true }],
        },
      ],
      // With `File` the kubelet waits for the file. Otherwise it creates a folder of that name, and kubeadm fails.
      volumes: [{ name: 'kubeconfig', hostPath: { path: `/etc/kubernetes/${credentials}`, type: 'File' } }],
    },
  };
  return `${OWN_HEADER}.\n${toYaml([pod])}`;
}

function manifest(target: Target, balancer: KubeVipBalancer, credentials: Credentials) {
  const { host, facts } = target;
  const found = facts.interfaces.find(({ addresses }) => addresses.includes(host.internalAddress));
  const content = kubeVipPod(balancer, found?.name ?? '', credentials, target.inventory.runtime.selinux);
  return fileChanges(target, { path: paths.kubeVipManifest, content, mode: 0o600 });
}

const watches = ({ inventory }: Unobserved): Watches =>
  inventory.loadBalancer.kind === 'kube-vip' ? { files: [paths.kubeVipManifest] } : {};

/** Runs kube-vip on the founder before `kubeadm init`, which already connects to the virtual address. */
export const kubeVipOfFounder: Step = {
  name: 'kube-vip-founder',
  watches,
  diff: (target) => {
    const { inventory, host, fleet } = target;
    const { loadBalancer } = inventory;
    if (loadBalancer.kind !== 'kube-vip' || standing(target) === 'joined') return [];
    const first = founder(inventory, fleet);
    if (!('host' in first) || first.host.name !== host.name) return [];
    return manifest(target, loadBalancer, 'super-admin.conf');
  },
};

/** Runs kube-vip on every control plane that has joined, with admin.conf. */
export const kubeVip: Step = {
  name: 'kube-vip',
  watches,
  needs: 'whole-control-plane',
  diff: (target) => {
    const { loadBalancer } = target.inventory;
    if (loadBalancer.kind !== 'kube-vip') return [];
    const isThere = fileState(target, paths.kubeVipManifest).kind === 'file';
    const restarts = [{ what: 'kube-vip', hosts: [target.host.name], aboutMs: ABOUT_MS.staticPod }];
    return manifest(target, loadBalancer, 'admin.conf').map((change) => (isThere ? { ...change, restarts } : change));
  },
};

const down = ({ address, port }: KubeVipBalancer, takenOver: boolean) =>
  script('balancer/kube-vip-down.sh', {
    ...{ MANIFEST: paths.kubeVipManifest, ADDRESS: asCidr(address), PORT: String(port) },
    TAKEN_OVER: takenOver ? 'yes' : 'no',
  });

/**
 * Stops kube-vip on a host that leaves: kubeadm's reset would kill it, and the address would stay on the host.
 * `leaves`: `cluster` for a host that leaves a live cluster with other control planes, `host` for a host that is reset.
 */
export const kubeVipStopped = (leaves: 'cluster' | 'host'): Step => ({
  name: 'kube-vip-stopped',
  diff: ({ inventory: { loadBalancer }, host, facts }) =>
    loadBalancer.kind === 'kube-vip' && facts.ownFiles.includes(paths.kubeVipManifest)
      ? [
          {
            summary: `stop kube-vip (found ${paths.kubeVipManifest})`,
            apply: runs(host, down(loadBalancer, leaves === 'cluster')),
          },
        ]
      : [],
});

/**
 * Deletes the virtual address that a killed kube-vip left on the host. Does nothing while the host has kube-vip's
 * manifest.
 */
export const noVirtualAddress: Step = {
  name: 'no-virtual-address',
  diff: ({ inventory: { loadBalancer }, host, facts }) => {
    if (loadBalancer.kind !== 'kube-vip' || facts.ownFiles.includes(paths.kubeVipManifest)) return [];
    const { address } = loadBalancer;
    const found = facts.interfaces.filter(({ addresses }) => addresses.includes(address)).map(({ name }) => name);
    if (found.length === 0) return [];
    return [
      {
        summary: `delete the virtual address ${address} that kube-vip left (found on ${found.join(', ')})`,
        apply: runs(host, down(loadBalancer, false)),
      },
    ];
  },
};

import { founder } from '../cluster/founder.ts';
import { toYaml } from '../configuration/secret-yaml.ts';
import { standing } from '../cluster/standing.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target, Unobserved } from '../engine/step.ts';
import type { Watches } from '../facts/watched.ts';
import type { KubeVipBalancer } from '../model/control-plane.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { fileChanges, fileState } from '../resources/file.ts';

/**
 * The credentials with which kube-vip elects its leader. During `kubeadm init` admin.conf has no rights yet, because kubeadm
 * creates its ClusterRoleBinding late (since Kubernetes 1.29). Until then the founder's kube-vip uses super-admin.conf.
 */
type Credentials = 'admin.conf' | 'super-admin.conf';

/** kube-vip's static pod in ARP mode: the virtual address is on the interface of the leader. */
export function kubeVipPod(
  { address, port, image }: KubeVipBalancer,
  interfaceName: string,
  credentials: Credentials,
): string {
  const env = {
    vip_arp: 'true',
    port: String(port),
    vip_interface: interfaceName,
    vip_subnet: '32',
    cp_enable: 'true',
    cp_namespace: 'kube-system',
    vip_leaderelection: 'true',
    vip_leasename: 'plndr-cp-lock',
    vip_leaseduration: '5',
    vip_renewdeadline: '3',
    vip_retryperiod: '1',
    address,
  };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'kube-vip', namespace: 'kube-system' },
    spec: {
      hostNetwork: true,
      hostAliases: [{ hostnames: ['kubernetes'], ip: '127.0.0.1' }],
      priorityClassName: 'system-node-critical',
      containers: [
        {
          name: 'kube-vip',
          image,
          imagePullPolicy: 'IfNotPresent',
          args: ['manager'],
          env: Object.entries(env)
            .filter(([, value]) => value !== '')
            .map(([name, value]) => ({ name, value })),
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
  const content = kubeVipPod(balancer, found?.name ?? '', credentials);
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

import { inside } from './lab.ts';

const FILES = [
  ...['/etc/kubernetes/*.conf', '/etc/kubernetes/pki/*', '/etc/kubernetes/manifests/*', '/var/lib/etcd/member'],
  ...['/var/lib/cni/*', '/etc/cni/net.d/10-flannel.conflist', '/var/lib/kbuild/*', '/etc/sysctl.d/*kbuild*'],
  ...['/etc/modules-load.d/*kbuild*', '/etc/apt/sources.list.d/*kbuild*'],
];

/** What a reset must not leave on a host, as lines: files, rules, interfaces, listening ports and mounts of Kubernetes. Empty: nothing. */
export async function leftByReset(host: string): Promise<string> {
  const { stdout } = await inside(
    host,
    `ls -d ${FILES.join(' ')} 2>/dev/null
     iptables-save | grep -E 'KUBE-|CNI-|FLANNEL-'
     ip -o link show | grep -E 'cni0|flannel|veth'
     ss -Hltn 'sport = :6443 or sport = :10250 or sport = :2379'
     grep /var/lib/kubelet/ /proc/mounts`,
  );
  return stdout;
}

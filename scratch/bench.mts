import { files } from '../src/facts/linux/files.ts';
import { writeFileSync } from 'node:fs';
const p = ['/etc/hosts','/etc/systemd/system/kubelet.service','/etc/systemd/system/kubelet.service.d/10-kubeadm.conf','/etc/apt/sources.list.d/x','/etc/apt/keyrings/x','/etc/modules-load.d/kbuild.conf','/etc/sysctl.d/99','/etc/containerd/config.toml','/etc/crictl.yaml','/var/lib/kbuild/trusted-cas','/etc/kubernetes/pki/etcd/ca.key','/etc/kubernetes/manifests/etcd.yaml','/etc/resolv.conf','/lib/systemd/system/ssh.service', ...Array.from({length:40},(_,i)=>`/etc/kubernetes/f${i}`)];
writeFileSync('scratch/probe.sh', files(p,['/etc/apt']).command.script);

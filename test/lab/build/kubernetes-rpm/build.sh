#!/bin/sh
# An rpm repository as pkgs.k8s.io has one a minor.
# VERSION: 1.36.3. CNI_VERSION: 1.9.1. KUBERNETES, CNI: the programs. CRI_TOOLS, CRI_TOOLS_VERSION: the same of crictl, or nothing.
# KEY, GNUPGHOME: who signs. OUT: root of the repository.
set -eu
. ./rpm.sh
release=150500.1.1
for p in kubeadm kubectl kubelet; do install -D -m 755 "$KUBERNETES/$p" "root/$p/usr/bin/$p"; done
mkdir -p root/kubernetes-cni/opt/cni/bin
install -m 755 "$CNI"/* root/kubernetes-cni/opt/cni/bin/
install -D -m 644 kubelet.service root/kubelet/usr/lib/systemd/system/kubelet.service
install -D -m 644 /dev/null root/kubelet/etc/sysconfig/kubelet
echo 'KUBELET_EXTRA_ARGS=' > root/kubelet/etc/sysconfig/kubelet
install -D -m 644 10-kubeadm.conf root/kubeadm/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf

tools=
if [ -n "${CRI_TOOLS:-}" ]; then
  install -D -m 755 "$CRI_TOOLS/crictl" root/cri-tools/usr/bin/crictl
  rpm_of cri-tools "$CRI_TOOLS_VERSION" "$release" x86_64 "$OUT/x86_64" < /dev/null
  tools='Requires: cri-tools >= 1.30.0'
fi
rpm_of kubernetes-cni "$CNI_VERSION" "$release" x86_64 "$OUT/x86_64" < /dev/null
rpm_of kubectl "$VERSION" "$release" x86_64 "$OUT/x86_64" < /dev/null
echo "$tools" | rpm_of kubeadm "$VERSION" "$release" x86_64 "$OUT/x86_64"
{
  printf 'Requires: iptables >= 1.4.21\nRequires: kubernetes-cni >= 1.2.0\nRequires: util-linux\n'
  service_scripts kubelet.service
} | rpm_of kubelet "$VERSION" "$release" x86_64 "$OUT/x86_64"
rpm_repository "$OUT"

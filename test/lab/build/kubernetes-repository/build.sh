#!/bin/sh
# A repository as pkgs.k8s.io has one a minor: kubeadm, kubelet, kubectl and kubernetes-cni, flat, with a signed index.
# VERSION: 1.36.3. MINOR: 1.36. CNI_VERSION: 1.9.1. KUBERNETES, CNI: the programs. CRI_TOOLS, CRI_TOOLS_VERSION: the same of crictl, or nothing. KEY, GNUPGHOME: who signs. OUT: root of the repository.
set -eu
WORK=$PWD
mkdir -p "$OUT/amd64"

deb() { # NAME VERSION FIELDS... : packs root/NAME
  name=$1 version=$2
  shift 2
  mkdir -p "root/$name/DEBIAN"
  {
    printf 'Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: Kubernetes Authors <dev@kubernetes.io>\nSection: admin\nPriority: optional\nHomepage: https://kubernetes.io\n' "$name" "$version"
    for field in "$@"; do echo "$field"; done
  } > "root/$name/DEBIAN/control"
  # Not compressed: the wire is this machine's memory, and unpacking is what a test waits for.
  dpkg-deb --root-owner-group -Znone --build "root/$name" "$OUT/amd64/${name}_${version}_amd64.deb"
}
for p in kubeadm kubectl kubelet; do install -D -m 755 "$KUBERNETES/$p" "root/$p/usr/bin/$p"; done
mkdir -p root/kubernetes-cni/opt/cni/bin root/kubelet/etc/kubernetes/manifests root/kubelet/var/lib/kubelet root/kubelet/DEBIAN
install -m 755 "$CNI"/* root/kubernetes-cni/opt/cni/bin/
install -D -m 644 kubelet.service root/kubelet/usr/lib/systemd/system/kubelet.service
install -D -m 644 10-kubeadm.conf root/kubelet/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf
install -d root/kubelet/etc/default
echo 'KUBELET_EXTRA_ARGS=' > root/kubelet/etc/default/kubelet
echo /etc/default/kubelet > root/kubelet/DEBIAN/conffiles
for s in postinst prerm postrm; do install -m 755 kubelet.$s root/kubelet/DEBIAN/$s; done

deb kubeadm "$VERSION-1.1" 'Description: Command-line utility for administering a Kubernetes cluster'
deb kubectl "$VERSION-1.1" 'Description: Command-line utility for interacting with a Kubernetes cluster'
deb kubelet "$VERSION-1.1" 'Depends: iptables (>= 1.4.21), kubernetes-cni (>= 1.2.0), mount, util-linux' 'Description: Node agent for Kubernetes clusters'
deb kubernetes-cni "$CNI_VERSION-1.1" 'Description: Binaries required to provision kubernetes container networking'
if [ -n "${CRI_TOOLS:-}" ]; then
  install -D -m 755 "$CRI_TOOLS/crictl" root/cri-tools/usr/bin/crictl
  deb cri-tools "$CRI_TOOLS_VERSION-1.1" 'Description: Command-line utility for interacting with a container runtime'
fi

cd "$OUT"
. "$WORK/kubernetes-index.sh"

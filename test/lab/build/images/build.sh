#!/bin/sh
# The storage of a registry with every image that kubeadm of the lab's versions and flannel ask for, and agnhost.
# With KUBERNETES_IMAGES they are copied (published.sh), without they are made of these:
# KUBERNETES_<n>, ETCD_<n>, COREDNS_<n> (n: 0, 1, …): programs, and the same with _VERSION their versions. AGNHOST, FLANNEL, FLANNEL_CNI, PAUSE,
# TOOLS, BOOTSTRAP: other artifacts. FLANNEL_VERSION, FLANNEL_CNI_VERSION, PAUSE_VERSION, AGNHOST_VERSION: tags. OUT: root of the registry.
set -eu
. ./registry.sh
if [ -n "${KUBERNETES_IMAGES:-}" ]; then
  . ./published.sh
  exit
fi
. ./image-tools.sh
. ./oci.sh
TREE=$BOOTSTRAP/tree
LAYOUT=$PWD/layout
mkdir -p layers "$LAYOUT/blobs/sha256"
echo '{"imageLayoutVersion":"1.0.0"}' > "$LAYOUT/oci-layout"

put() { install -D -m 755 "$1" "$2"; }
mkdir -p layers/firewall layers/shell layers/curl
firewall layers/firewall
shell layers/shell
with_libraries layers/curl /usr/bin/curl

put "$PAUSE/pause" layers/pause/pause
image "pause:$PAUSE_VERSION" /pause pause

n=0
while eval "[ -n \"\${KUBERNETES_$n:-}\" ]"; do
  eval "kubernetes=\$KUBERNETES_$n version=v\$KUBERNETES_${n}_VERSION etcd=\$ETCD_$n etcd_version=\$ETCD_${n}_VERSION coredns=\$COREDNS_$n coredns_version=\$COREDNS_${n}_VERSION"
  for p in kube-apiserver kube-controller-manager kube-scheduler kube-proxy; do
    if [ -e "$kubernetes/hyperkube" ]; then
      put "$kubernetes/hyperkube" "layers/kubernetes-$n/usr/local/bin/hyperkube"
      ln -s hyperkube "layers/kubernetes-$n/usr/local/bin/$p"
    else
      put "$kubernetes/$p" "layers/kubernetes-$n/usr/local/bin/$p"
    fi
  done
  for p in kube-apiserver kube-controller-manager kube-scheduler; do image "$p:$version" "$p" kubernetes-$n; done
  image "kube-proxy:$version" kube-proxy kubernetes-$n firewall

  for p in etcd etcdutl etcdctl; do
    # The one that the lab builds is a link to etcd.
    if [ -L "$etcd/$p" ]; then ln -s etcd "layers/etcd-$n/usr/local/bin/$p"; else put "$etcd/$p" "layers/etcd-$n/usr/local/bin/$p"; fi
  done
  image "etcd:$etcd_version-0" etcd etcd-$n
  put "$coredns/coredns" "layers/coredns-$n/coredns"
  image "coredns/coredns:v$coredns_version" /coredns coredns-$n
  n=$((n + 1))
done

put "$AGNHOST/agnhost" layers/agnhost/agnhost
image "e2e-test-images/agnhost:$AGNHOST_VERSION" /agnhost agnhost shell curl

put "$FLANNEL/flanneld" layers/flannel/opt/bin/flanneld
image "flannel-io/flannel:v$FLANNEL_VERSION" /opt/bin/flanneld flannel shell firewall
put "$FLANNEL_CNI/flannel" layers/flannel-cni/flannel
image "flannel-io/flannel-cni-plugin:v$FLANNEL_CNI_VERSION" /flannel flannel-cni shell

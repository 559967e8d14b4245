#!/bin/sh
# The storage of a registry with every image that kubeadm of the lab's versions and flannel ask for, and agnhost.
# With KUBERNETES_IMAGES they are copied (published.sh), without they are made of these:
# KUBERNETES_<n>, ETCD_<n>, COREDNS_<n> (n: 0, 1, …): programs, and the same with _VERSION their versions. AGNHOST, ETCD_BETWEEN, FLANNEL, FLANNEL_CNI, PAUSE,
# TOOLS, BOOTSTRAP: other artifacts. FLANNEL_VERSION, FLANNEL_CNI_VERSION, PAUSE_VERSIONS (words), AGNHOST_VERSION, ETCD_BETWEEN_TAG: tags. OUT: root of the registry.
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
for version in $PAUSE_VERSIONS; do image "pause:$version" /pause pause; done

# etcd_image NAME PROGRAMS LAYER
etcd_image() {
  for p in etcd etcdutl etcdctl; do
    # The one that the lab builds is a link to etcd.
    if [ -L "$2/$p" ]; then ln -s etcd "layers/$3/usr/local/bin/$p"; else put "$2/$p" "layers/$3/usr/local/bin/$p"; fi
  done
  image "$1" etcd "$3"
}
etcd_image "etcd:$ETCD_BETWEEN_TAG" "$ETCD_BETWEEN" etcd-between

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

  etcd_image "etcd:$etcd_version-0" "$etcd" etcd-$n
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

#!/bin/sh
# The storage of a registry with the images of Cilium's agent and operator, without Envoy and Hubble's relay.
# CILIUM, COMPILER, CNI, TOOLS: other artifacts. VERSION: the images' tag. OUT: root of the registry.
set -eu
. ./registry.sh
. ./image-tools.sh
. ./oci.sh
TREE=$COMPILER/tree
LAYOUT=$PWD/layout
mkdir -p layers "$LAYOUT/blobs/sha256"
echo '{"imageLayoutVersion":"1.0.0"}' > "$LAYOUT/oci-layout"

mkdir -p layers/compiler/tmp layers/firewall
with_libraries layers/compiler /usr/lib/llvm-19/bin/clang
mkdir -p layers/compiler/usr/bin
ln -s ../lib/llvm-19/bin/clang layers/compiler/usr/bin/clang
firewall layers/firewall
for p in iptables ip6tables; do
  for kind in nft legacy; do
    for s in '' -save -restore; do ln -sf "xtables-$kind-multi" "layers/firewall/usr/sbin/$p-$kind$s"; done
  done
done
for p in bash sh cat chmod cp find grep ls mkdir mount mv nsenter rm sed sleep test true umount basename dirname env sysctl ps ss; do
  path=$(chroot "$TREE" sh -c "command -v $p" || true)
  # Built into the shell.
  case $path in /*) ;; *) path=/usr/bin/$p ;; esac
  [ ! -e "$TREE$path" ] || with_libraries layers/firewall "$path"
done
mkdir -p layers/firewall/bin
ln -sf ../usr/bin/bash layers/firewall/bin/bash
ln -sf ../usr/bin/bash layers/firewall/bin/sh
with_libraries layers/firewall /usr/sbin/ipset /usr/sbin/tc

cp -a "$CILIUM/root" layers/agent
install -D -m 755 "$CNI/loopback" layers/agent/cni/loopback
# As in Debian and in Cilium's own image. The chart mounts the host's /var/run/cilium, below which the agent expects cgroup2 as
# /run/cilium/cgroupv2. Without the link it mounts the hierarchy again, from its root, and changes connections of all hosts.
mkdir -p layers/agent/run layers/agent/var
ln -s ../run layers/agent/var/run
image "cilium/cilium:$VERSION" /usr/bin/cilium-dbg compiler firewall agent
cp -a "$CILIUM/operator" layers/operator
install -D -m 644 "$TREE/etc/ssl/certs/ca-certificates.crt" layers/operator/etc/ssl/certs/ca-certificates.crt
image "cilium/operator-generic:$VERSION" /usr/bin/cilium-operator-generic operator

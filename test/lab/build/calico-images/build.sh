#!/bin/sh
# The storage of a registry with the images that Calico's operator asks for, and with its own, without BIRD, confd and runit.
# CALICO, COMPILER, CNI, TOOLS: other artifacts. VERSION: the tag that the operator asks for. OPERATOR: its own. OUT: root of the registry.
set -eu
. ./registry.sh
. ./image-tools.sh
. ./oci.sh
TREE=$COMPILER/tree
LAYOUT=$PWD/layout
mkdir -p layers "$LAYOUT/blobs/sha256"
echo '{"imageLayoutVersion":"1.0.0"}' > "$LAYOUT/oci-layout"

mkdir -p layers/firewall layers/shell
firewall layers/firewall
for p in iptables ip6tables; do
  for kind in nft legacy; do
    for s in '' -save -restore; do ln -sf "xtables-$kind-multi" "layers/firewall/usr/sbin/$p-$kind$s"; done
  done
done
with_libraries layers/firewall /usr/sbin/ipset /usr/sbin/tc
shell layers/shell
mkdir -p layers/certificates layers/shell/tmp
install -D -m 644 "$TREE/etc/ssl/certs/ca-certificates.crt" layers/certificates/etc/ssl/certs/ca-certificates.crt

for part in node typha kube-controllers cni csi flexvol operator; do cp -a "$CALICO/$part" "layers/$part"; done
# Its user is not root.
mkdir -m 777 layers/kube-controllers/status layers/kube-controllers/profiles
install -m 666 /dev/null layers/kube-controllers/status/status.json
install -D -m 755 start.sh layers/node/usr/sbin/start
# Its module cannot be had: the driver for volumes of application layer policies is registered nowhere.
mkdir -p layers/waiting/usr/bin
printf '#!/bin/sh\nwhile :; do sleep 60; done\n' > layers/waiting/usr/bin/wait
chmod 755 layers/waiting/usr/bin/wait
install -D -m 755 flexvol.sh layers/flexvol/usr/local/bin/flexvol.sh
for p in bandwidth host-local loopback portmap tuning; do install -D -m 755 "$CNI/$p" "layers/cni/opt/cni/bin/$p"; done

image "calico/node:$VERSION" /usr/sbin/start node firewall shell certificates
image "calico/typha:$VERSION" /usr/bin/calico-typha typha certificates
image "calico/kube-controllers:$VERSION" /usr/bin/kube-controllers kube-controllers certificates
image "calico/cni:$VERSION" /opt/cni/bin/install cni shell certificates
image "calico/csi:$VERSION" /usr/bin/csi-driver csi
image "calico/node-driver-registrar:$VERSION" /usr/bin/wait waiting shell
image "calico/pod2daemon-flexvol:$VERSION" /usr/local/bin/flexvol.sh flexvol shell
image "tigera/operator:$OPERATOR" /usr/bin/operator operator certificates

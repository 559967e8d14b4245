#!/bin/sh
# The storage of a registry with the image of kube-vip, as its project makes it: the program and the trusted authorities.
# KUBE_VIP, TOOLS, BOOTSTRAP: other artifacts. VERSION: the image's tag. OUT: root of the registry.
set -eu
. ./registry.sh
. ./oci.sh
LAYOUT=$PWD/layout
mkdir -p layers "$LAYOUT/blobs/sha256"
echo '{"imageLayoutVersion":"1.0.0"}' > "$LAYOUT/oci-layout"
install -D -m 755 "$KUBE_VIP/kube-vip" layers/kube-vip/kube-vip
install -D -m 644 "$BOOTSTRAP/tree/etc/ssl/certs/ca-certificates.crt" layers/kube-vip/etc/ssl/certs/ca-certificates.crt
image "kube-vip/kube-vip:$VERSION" /kube-vip kube-vip

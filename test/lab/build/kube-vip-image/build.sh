#!/bin/sh
# The storage of a registry with the image of kube-vip, as its project makes it: the program and the trusted authorities.
# In the place of its cloud provider, whose module cannot be had, stands a program that only waits.
# KUBE_VIP, PAUSE, TOOLS, BOOTSTRAP: other artifacts. VERSION, PROVIDER_VERSION: tags of the images. OUT: root of the registry.
set -eu
. ./registry.sh
. ./oci.sh
LAYOUT=$PWD/layout
mkdir -p layers "$LAYOUT/blobs/sha256"
echo '{"imageLayoutVersion":"1.0.0"}' > "$LAYOUT/oci-layout"
install -D -m 755 "$KUBE_VIP/kube-vip" layers/kube-vip/kube-vip
install -D -m 644 "$BOOTSTRAP/tree/etc/ssl/certs/ca-certificates.crt" layers/kube-vip/etc/ssl/certs/ca-certificates.crt
image "kube-vip/kube-vip:$VERSION" /kube-vip kube-vip
install -D -m 755 "$PAUSE/pause" layers/provider/kube-vip-cloud-provider
image "kube-vip/kube-vip-cloud-provider:$PROVIDER_VERSION" /kube-vip-cloud-provider provider

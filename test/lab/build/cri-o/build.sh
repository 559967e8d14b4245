#!/bin/sh
# Builds crio and pinns from the published module of CRI-O. VERSION: v1.36.1. KUBERNETES: v0.36.1, the version of Kubernetes'
# modules. INGREDIENTS: the result of cri-o-ingredients/build.sh, for libseccomp. OUT: folder for the programs.
set -eu
dir=$(go mod download -json "github.com/cri-o/cri-o@$VERSION" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
cp -r "$dir" source
chmod -R u+w source
cd source
# Its module file names a release candidate of cri-client that is not published; the others follow it.
for m in api apimachinery client-go component-base cri-api cri-client cri-streaming kubelet streaming; do
  go mod edit -require "k8s.io/$m@$KUBERNETES"
done
export CGO_ENABLED=1
seccomp=$INGREDIENTS/root/usr
export CGO_CFLAGS="-I$seccomp/include" CGO_LDFLAGS="-L$seccomp/lib/x86_64-linux-gnu"
export PKG_CONFIG_PATH="$seccomp/lib/x86_64-linux-gnu/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$INGREDIENTS/root"
v=github.com/cri-o/cri-o/internal/version
go build -trimpath -tags 'containers_image_openpgp containers_image_ostree_stub exclude_graphdriver_btrfs btrfs_noversion exclude_graphdriver_devicemapper seccomp' \
  -ldflags "-s -w -X $v.buildDate=2026-01-01T00:00:00Z" -o "$OUT/crio" ./cmd/crio
make -C pinns
cp bin/pinns "$OUT/"
# What the project's packages take from there.
cp test/policy.json crictl.yaml contrib/cni/10-crio-bridge.conflist "$OUT/"

#!/bin/sh
# Builds containerd, its runc shim and ctr. VERSION: v2.2.9. OUT: folder for the programs.
set -eu
go mod init kbuild.lab/containerd
go get "github.com/containerd/containerd/v2@$VERSION"
for p in containerd containerd-shim-runc-v2 ctr; do
  go build -trimpath -tags 'no_btrfs no_devmapper no_zfs no_aufs' \
    -ldflags "-s -w -X github.com/containerd/containerd/v2/version.Version=$VERSION" \
    -o "$OUT/" "github.com/containerd/containerd/v2/cmd/$p"
done

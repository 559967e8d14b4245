#!/bin/sh
# A repository with several versions of containerd.io, as Docker's has. REPOSITORY_0, …: repositories with one version each. KEY, GNUPGHOME:
# who signs. OUT: root of the repository.
set -eu
WORK=$PWD
pool=dists/bookworm/pool/stable/amd64
binary=dists/bookworm/stable/binary-amd64
mkdir -p "$OUT/$pool" "$OUT/$binary"
for from in $(env | sed -n 's/^REPOSITORY_[0-9]*=//p'); do cp "$from/$pool"/*.deb "$OUT/$pool/"; done
cd "$OUT"
. "$WORK/docker-index.sh"

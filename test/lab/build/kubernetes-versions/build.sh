#!/bin/sh
# A repository of one minor with several patch versions, as pkgs.k8s.io has them. REPOSITORY_0, …: repositories with one version each.
# MINOR: 1.36. KEY, GNUPGHOME: who signs. OUT: root of the repository.
set -eu
WORK=$PWD
mkdir -p "$OUT/amd64"
for from in $(env | sed -n 's/^REPOSITORY_[0-9]*=//p'); do cp "$from"/amd64/*.deb "$OUT/amd64/"; done
cd "$OUT"
. "$WORK/kubernetes-index.sh"

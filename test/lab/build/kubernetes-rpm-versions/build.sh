#!/bin/sh
# An rpm repository of one minor with several patch versions, as pkgs.k8s.io has them. REPOSITORY_0, …: repositories with one version
# each. KEY, GNUPGHOME: who signs. OUT: root of the repository.
set -eu
. ./rpm.sh
mkdir -p "$OUT/x86_64"
for from in $(env | sed -n 's/^REPOSITORY_[0-9]*=//p'); do cp "$from"/x86_64/*.rpm "$OUT/x86_64/"; done
rpm_repository "$OUT"

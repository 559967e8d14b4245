#!/bin/sh
# Builds kubeadm's own end-to-end suite from the published k8s.io/kubernetes module. VERSION: v1.36.3. OUT: folder for the program.
set -eu
# As for the programs: see the recipe `kubernetes`.
staging=v0.${VERSION#v1.}
mod=$(go mod download -json "k8s.io/kubernetes@$VERSION" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
{
  echo 'module kbuild.lab/kube'
  grep -m1 '^go ' "$mod"
  echo "require k8s.io/kubernetes $VERSION"
  sed -nE 's/^.*(k8s\.io\/[a-z-]+) v0\.0\.0$/\1/p' "$mod" | sort -u | sed "s/.*/replace & => & $staging/"
} > go.mod
go mod tidy
go test -c -trimpath -o "$OUT/e2e_kubeadm.test" k8s.io/kubernetes/test/e2e_kubeadm

#!/bin/sh
# Builds an end-to-end suite of Kubernetes from the published k8s.io/kubernetes module. VERSION: v1.36.3. SUITE: its folder below test:
# e2e, e2e_kubeadm. OUT: folder for the program, SUITE.test.
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
# What the suite imports, for go.mod; its test files import the first.
cat > tools.go <<G
//go:build tools

package main

import (
	_ "k8s.io/kubernetes/test/e2e/framework/debug/init"
	_ "k8s.io/kubernetes/test/$SUITE"
)
G
go mod tidy
go test -c -trimpath -ldflags '-s -w' -o "$OUT/$SUITE.test" "k8s.io/kubernetes/test/$SUITE"

#!/bin/sh
# Builds the programs of the conformance specifications' images from the published modules of Kubernetes. VERSION: v1.36.3. OUT: gets
# sample-apiserver, nonewprivs, and a folder each for the files of kitten, nautilus and agnhost.
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
cat > tools.go <<'G'
//go:build tools

package main

import (
	_ "k8s.io/kubernetes/test/images/nonewprivs"
	_ "k8s.io/sample-apiserver"
)
G
go mod tidy
go build -trimpath -ldflags '-s -w' -o "$OUT/sample-apiserver" k8s.io/sample-apiserver
go build -trimpath -ldflags '-s -w' -o "$OUT/nonewprivs" k8s.io/kubernetes/test/images/nonewprivs
images=$(go list -m -f '{{.Dir}}' k8s.io/kubernetes)/test/images
mkdir "$OUT/kitten" "$OUT/nautilus" "$OUT/agnhost"
for p in kitten nautilus; do cp "$images/$p"/html/* "$OUT/$p/"; done
cp "$images"/agnhost/porter/localhost.* "$OUT/agnhost/"
chmod -R u+w "$OUT"

#!/bin/sh
# Builds Helm. VERSION: v3.19.0. OUT: folder for the program.
# As a module of its own: what it names in go.mod and go.sum is what its project builds with.
set -eu
dir=$(go mod download -json "helm.sh/helm/v3@$VERSION" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
cp -r "$dir" source
chmod -R u+w source
cd source
CGO_ENABLED=0 nice go build -trimpath -ldflags "-s -w -X helm.sh/helm/v3/internal/version.version=$VERSION" \
  -o "$OUT/helm" ./cmd/helm

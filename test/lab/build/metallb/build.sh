#!/bin/sh
# Builds MetalLB's two programs, as a module of its own. VERSION: v0.16.2. OUT: gets both and the manifest with which its project has them
# installed. FRR_K8S: the version of github.com/metallb/frr-k8s that can be had. It lacks one field: BGP by that program, which the lab has
# not, goes without it.
set -eu
dir=$(go mod download -json "go.universe.tf/metallb@$VERSION" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
cp -r "$dir" source
chmod -R u+w source
cd source
go mod edit -replace "github.com/metallb/frr-k8s=github.com/metallb/frr-k8s@$FRR_K8S"
frr=internal/bgp/frrk8s/frrk8s.go
sed -i '/PrefixesWithAsPathPrepend/d; s/frrv1beta1\.AsPathPrependPrefixes/asPathPrepend/' "$frr"
printf '\ntype asPathPrepend struct {\n\tAsPathPrepend uint8\n\tPrefixes      []string\n}\n' >> "$frr"
export CGO_ENABLED=0 GOFLAGS='-mod=mod -buildvcs=false'
# Tests of a long kind may run beside it.
for program in controller speaker; do nice go build -trimpath -ldflags '-s -w' -o "$OUT/$program" "./$program"; done
install -m 644 config/manifests/metallb-native.yaml "$OUT/"

#!/bin/sh
# Builds kube-vip. VERSION: v0.9.1. OUT: folder for the program.
# As a module of its own: what it names in go.mod and go.sum is what its project builds with.
set -eu
dir=$(go mod download -json "github.com/kube-vip/kube-vip@$VERSION" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
cp -r "$dir" source
chmod -R u+w source
cd source
# Tests of a long kind may run beside it.
nice go build -trimpath -ldflags "-s -w -X main.Version=$VERSION" -o "$OUT/kube-vip" .

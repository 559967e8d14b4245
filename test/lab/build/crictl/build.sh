#!/bin/sh
# Builds crictl. VERSION: v1.36.0. OUT: folder for the program.
set -eu
go mod init kbuild.lab/crictl
go get "sigs.k8s.io/cri-tools@$VERSION"
go build -trimpath -ldflags "-s -w -X sigs.k8s.io/cri-tools/pkg/version.Version=$VERSION" \
  -o "$OUT/" sigs.k8s.io/cri-tools/cmd/crictl

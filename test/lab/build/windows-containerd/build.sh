#!/bin/sh
# Builds containerd for Windows. VERSION: v2.2.9. OUT: folder for the program.
set -eu
export GOOS=windows GOARCH=amd64
go mod init kbuild.lab/containerd
go get "github.com/containerd/containerd/v2@$VERSION"
go build -trimpath -ldflags "-s -w -X github.com/containerd/containerd/v2/version.Version=$VERSION" \
  -o "$OUT/" github.com/containerd/containerd/v2/cmd/containerd

#!/bin/sh
# Builds host-local for Windows. VERSION: v1.9.1. OUT: folder for the program.
set -eu
export GOOS=windows GOARCH=amd64
go mod init kbuild.lab/cni
go get "github.com/containernetworking/plugins@$VERSION"
go build -trimpath -ldflags '-s -w' -o "$OUT/" github.com/containernetworking/plugins/plugins/ipam/host-local

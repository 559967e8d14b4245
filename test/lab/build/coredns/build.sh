#!/bin/sh
# Builds CoreDNS. VERSION: v1.14.2. OUT: folder for the program.
set -eu
go mod init kbuild.lab/coredns
go get "github.com/coredns/coredns@$VERSION"
go mod tidy
go build -trimpath -ldflags '-s -w' -o "$OUT/coredns" .

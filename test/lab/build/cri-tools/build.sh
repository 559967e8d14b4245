#!/bin/sh
# Builds a stand-in for crictl: cri-tools is not published as a Go module. VERSION: v1.37.1, of the CRI that it speaks. OUT: folder for the program.
set -eu
go mod init kbuild.lab/crictl
go get "k8s.io/cri-api@v0.${VERSION#v1.}" google.golang.org/grpc
go mod tidy
go build -trimpath -ldflags '-s -w' -o "$OUT/crictl" .

#!/bin/sh
# Builds the flannel CNI plugin. VERSION: v0.9.1. OUT: folder for the program.
# The plugin's own module is not published as one, but it was part of the CNI plugins until their 1.0.
set -eu
go mod init kbuild.lab/flannel-cni
go get "github.com/containernetworking/plugins@$VERSION"
go build -trimpath -ldflags '-s -w' -o "$OUT/flannel" github.com/containernetworking/plugins/plugins/meta/flannel

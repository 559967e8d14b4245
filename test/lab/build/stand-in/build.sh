#!/bin/sh
# Builds one small program under the names kubeadm, kubelet and kubectl. VERSION: v1.36.3. OUT: folder for the programs.
set -eu
go mod init kbuild.lab/stand-in
for p in kubeadm kubelet kubectl; do go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o "$OUT/$p" .; done

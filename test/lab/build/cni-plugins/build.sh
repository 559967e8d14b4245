#!/bin/sh
# Builds the CNI plugins that the kubernetes-cni package ships. VERSION: v1.9.1. OUT: folder for the programs.
set -eu
go mod init kbuild.lab/cni
go get "github.com/containernetworking/plugins@$VERSION"
for p in main/bridge main/loopback main/host-device main/ptp ipam/host-local meta/portmap meta/tuning meta/bandwidth meta/firewall; do
  go build -trimpath -ldflags '-s -w' -o "$OUT/" "github.com/containernetworking/plugins/plugins/$p"
done

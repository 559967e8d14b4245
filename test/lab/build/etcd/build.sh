#!/bin/sh
# Builds etcd (with etcdctl as a link to it) and etcdutl. VERSION: v3.6.8. OUT: folder for the programs.
set -eu
go mod init kbuild.lab/etcd
for m in server etcdctl etcdutl; do go get "go.etcd.io/etcd/$m/v3@$VERSION"; done
go mod tidy
go get "go.etcd.io/etcd/etcdutl/v3@$VERSION" # tidy dropped it: main.go does not import it
go build -trimpath -ldflags '-s -w' -o "$OUT/etcd" .
go build -trimpath -ldflags '-s -w' -o "$OUT/etcdutl" go.etcd.io/etcd/etcdutl/v3
ln -s etcd "$OUT/etcdctl"

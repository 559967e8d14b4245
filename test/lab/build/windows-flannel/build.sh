#!/bin/sh
# Builds flanneld for Windows. VERSION: v0.28.10. OUT: folder for the program.
# One cloud backend needs modules that cannot be had: it is no part of the program for Windows, and stubs stand in.
set -eu
mod=$(go mod download -json "github.com/flannel-io/flannel@$VERSION" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
cat > go.mod <<M
module kbuild.lab/flannel
$(grep -m1 '^go ' "$mod")
require github.com/flannel-io/flannel $VERSION
replace github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common => ./stubs/common
replace github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/vpc => ./stubs/vpc
M
go mod tidy
GOOS=windows GOARCH=amd64 go build -trimpath \
  -ldflags "-s -w -X github.com/flannel-io/flannel/pkg/version.Version=$VERSION" -o "$OUT/flanneld.exe" github.com/flannel-io/flannel

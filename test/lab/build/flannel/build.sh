#!/bin/sh
# Builds flanneld. VERSION: v0.28.10. OUT: folder for the program.
# One cloud backend needs modules that cannot be had: two stubs stand in. The udp backend needs cgo.
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
CGO_ENABLED=1 go build -trimpath -ldflags '-s -w -linkmode external -extldflags -static' \
  -o "$OUT/flanneld" github.com/flannel-io/flannel

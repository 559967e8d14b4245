#!/bin/sh
# Builds cri-dockerd. The replacements of its module file are needed; of its vendor folder, the published module has only a part.
# VERSION: v0.4.3. OUT: folder for the program.
set -eu
dir=$(go mod download -json "github.com/Mirantis/cri-dockerd@$VERSION" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
cp -r "$dir" source
chmod -R u+w source
cd source
rm -rf vendor
go build -trimpath -ldflags "-s -w -X github.com/Mirantis/cri-dockerd/cmd/version.Version=${VERSION#v}" -o "$OUT/cri-dockerd" .

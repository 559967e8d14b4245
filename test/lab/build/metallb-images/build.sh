#!/bin/sh
# The storage of a registry with the images of MetalLB: a program each. METALLB, TOOLS: other artifacts. VERSION: the images' tag. OUT: root of
# the registry.
set -eu
. ./registry.sh
. ./oci.sh
LAYOUT=$PWD/layout
mkdir -p layers "$LAYOUT/blobs/sha256"
echo '{"imageLayoutVersion":"1.0.0"}' > "$LAYOUT/oci-layout"
for program in controller speaker; do
  install -D -m 755 "$METALLB/$program" "layers/$program/$program"
  # Memory-backed folders of secrets and certificates are mounted there.
  mkdir -p "layers/$program/tmp" "layers/$program/etc"
  image "metallb/$program:$VERSION" "/$program" "$program"
done

#!/bin/sh
# Takes the Kubernetes programs from a site laid out as dl.k8s.io. VERSION: v1.36.3. PROGRAMS: which of them. DOWNLOAD_BASE: its URL.
# CHECKSUMS: a file of "SHA256  v1.36.3/kubeadm" lines that is believed instead of the site's own, or empty. OUT: folder for the programs.
set -eu
for p in $PROGRAMS; do
  url=$DOWNLOAD_BASE/release/$VERSION/bin/linux/amd64/$p
  if [ -n "$CHECKSUMS" ]; then
    sum=$(awk -v name="$VERSION/$p" '$2 == name { print $1 }' "$CHECKSUMS")
  else
    sum=$(curl -fsSL --retry 3 "$url.sha256" | cut -d' ' -f1)
  fi
  [ -n "$sum" ] || { echo "no checksum for $VERSION/$p"; exit 1; }
  curl -fsSL --retry 3 -o "$OUT/$p" "$url"
  echo "$sum  $OUT/$p" | sha256sum --check --quiet
  chmod 755 "$OUT/$p"
done

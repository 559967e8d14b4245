#!/bin/sh
# The tree of Debian with the programs that images of the conformance specifications have. MIRROR: Debian's mirror. BOOTSTRAP: the result of
# bootstrap/build.sh. OUT: gets tree/.
set -eu
mkdir -p state/lists/partial cache/archives/partial
cp -a --reflink=auto "$BOOTSTRAP/tree" "$OUT/tree"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $MIRROR bookworm main" > sources.list
apt() {
  apt-get -q -y -o Dir::State="$PWD/state" -o Dir::State::status="$BOOTSTRAP/tree/var/lib/dpkg/status" \
    -o Dir::Cache="$PWD/cache" -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferencesparts=/dev/null -o APT::Install-Recommends=false -o APT::Sandbox::User=root "$@"
}
apt update
for p in busybox nginx bind9-dnsutils; do apt install --download-only "$p"; done
# Some still have files below /bin and /lib, which are links here.
for p in cache/archives/*.deb; do dpkg-deb --fsys-tarfile "$p" | tar -x --keep-directory-symlink -C "$OUT/tree"; done
chroot "$OUT/tree" ldconfig

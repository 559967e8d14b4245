#!/bin/sh
# What CRI-O needs of Debian beside what hosts can install: its monitor, a runtime of containers, and the library that both
# are compiled for. MIRROR: Debian's mirror. BOOTSTRAP: the result of bootstrap/build.sh. OUT: gets archives/ and root/, where they are unpacked.
set -eu
mkdir -p state/lists/partial cache/archives/partial "$OUT/archives" "$OUT/root"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $MIRROR bookworm main" > sources.list
apt() {
  apt-get -q -y -o Dir::State="$PWD/state" -o Dir::State::status="$BOOTSTRAP/tree/var/lib/dpkg/status" \
    -o Dir::Cache="$PWD/cache" -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferencesparts=/dev/null -o APT::Install-Recommends=false -o APT::Sandbox::User=root "$@"
}
apt update
for p in conmon crun libyajl2 libseccomp-dev; do apt install --download-only --reinstall "$p"; done
cp cache/archives/*.deb "$OUT/archives/"
for p in "$OUT"/archives/*.deb; do dpkg-deb -x "$p" "$OUT/root"; done

#!/bin/sh
# Debian 12's own Docker with all that it runs, unpacked and not installed: no daemon starts, and nothing of this machine changes.
# MIRROR: Debian's mirror. OUT: gets the programs.
set -eu
packages='docker.io containerd runc tini'
mkdir -p state/lists/partial cache/archives/partial root
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $MIRROR bookworm main" > sources.list
: > status
apt() {
  apt-get -q -y -o Dir::State="$PWD/state" -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD/cache" \
    -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferencesparts=/dev/null -o APT::Sandbox::User=root "$@"
}
apt update
# shellcheck disable=SC2086 # a list
apt download $packages
for deb in ./*.deb; do dpkg-deb -x "$deb" root; done
cp root/usr/sbin/dockerd root/usr/sbin/docker-proxy root/usr/sbin/runc root/usr/bin/docker root/usr/bin/containerd \
  root/usr/bin/containerd-shim-runc-v2 "$OUT/"
cp root/usr/bin/tini-static "$OUT/docker-init"
cp lab-runc "$OUT/"

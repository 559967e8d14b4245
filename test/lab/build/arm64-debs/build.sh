#!/bin/sh
# Debian packages of arm64: those that a minimal server of the hosts' suite has. MIRROR: Debian's mirror. SECURITY: its security
# archive, or empty. OUT: gets the packages.
set -eu
include='bash coreutils dash dpkg apt sed grep mawk gawk findutils tar gzip util-linux mount login passwd base-files base-passwd libc-bin'
include="$include systemd dbus-bin sudo iproute2 iptables nftables ca-certificates conntrack ethtool socat kmod procps curl gpg hostname openssl"
mkdir -p state/lists/partial cache/archives/partial
: > status
{
  signed='[arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
  echo "deb $signed $MIRROR bookworm main"
  echo "deb $signed $MIRROR bookworm-updates main"
  if [ -n "$SECURITY" ]; then echo "deb $signed $SECURITY bookworm-security main"; fi
} > sources.list
apt() {
  apt-get -q -y -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$PWD/state" -o Dir::State::status="$PWD/status" \
    -o Dir::Cache="$PWD/cache" -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferencesparts=/dev/null -o APT::Install-Recommends=false -o APT::Sandbox::User=root "$@"
}
apt update
# shellcheck disable=SC2086 # a list
apt install --download-only $include
mv cache/archives/*.deb "$OUT/"
# The emulator of this machine's own architecture.
mkdir emulator
(cd emulator && apt-get -q -o APT::Sandbox::User=root download qemu-user-static && dpkg-deb --fsys-tarfile ./*.deb | tar -x ./usr/bin/qemu-aarch64-static)
mv emulator/usr/bin/qemu-aarch64-static "$OUT/"

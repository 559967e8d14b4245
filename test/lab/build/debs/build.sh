#!/bin/sh
# Debian packages, with all that they need on top of the base tree, for a tree that is dressed as another system.
# PACKAGES: their names. BASE: the tree of Debian 12, or of the release SUITE. MIRROR: Debian's mirror. SECURITY: its security archive, or empty.
# OUT: gets the packages.
set -eu
mkdir -p state/lists/partial cache/archives/partial
{
  signed='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
  echo "deb $signed $MIRROR ${SUITE:-bookworm} main"
  echo "deb $signed $MIRROR ${SUITE:-bookworm}-updates main"
  if [ -n "$SECURITY" ]; then echo "deb $signed $SECURITY ${SUITE:-bookworm}-security main"; fi
} > sources.list
apt() {
  apt-get -q -y -o Dir::State="$PWD/state" -o Dir::State::status="$BASE/tree/var/lib/dpkg/status" \
    -o Dir::Cache="$PWD/cache" -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferencesparts=/dev/null -o APT::Install-Recommends=false -o APT::Sandbox::User=root "$@"
}
apt update
# shellcheck disable=SC2086 # a list
apt install --download-only $PACKAGES
mv cache/archives/*.deb "$OUT/"

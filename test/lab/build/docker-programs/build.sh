#!/bin/sh
# Debian 13's build of Docker Engine and of its client; it runs on Debian 12, too. MIRROR: Debian's mirror. VERSION: 26.1.5; Debian must
# still have it. OUT: gets dockerd, docker-proxy and docker.
set -eu
mkdir -p state/lists/partial cache/archives/partial root
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $MIRROR trixie main" > sources.list
: > status
apt() {
  apt-get -q -y -o Dir::State="$PWD/state" -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD/cache" \
    -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferencesparts=/dev/null -o APT::Sandbox::User=root "$@"
}
apt update
apt download docker.io docker-cli
for p in docker.io docker-cli; do
  case $(dpkg-deb -f "$p"_*.deb Version) in
    "$VERSION"+* | "$VERSION"-*) dpkg-deb -x "$p"_*.deb root ;;
    *) echo "Debian has another version of $p than $VERSION: $(dpkg-deb -f "$p"_*.deb Version)" >&2; exit 1 ;;
  esac
done
cp root/usr/sbin/dockerd root/usr/sbin/docker-proxy root/usr/bin/docker "$OUT/"

#!/bin/sh
# The part of Debian's archive that hosts can install from: what the base tree is made of, and the packages below with
# everything that they need on top of it. MIRROR: Debian's mirror. SECURITY: its security archive, or empty.
# BOOTSTRAP: the result of bootstrap/build.sh. KEY, GNUPGHOME: who signs. OUT: root of the repository.
set -eu
packages='haproxy keepalived chrony systemd-timesyncd containerd runc conntrack ethtool socat ipvsadm ipset nftables iptables
  ufw ebtables curl gnupg gpg ca-certificates apt-transport-https openssh-server sudo needrestart unattended-upgrades jq
  busybox-static docker-registry
  bash-completion nfs-common open-iscsi tcpdump lsof psmisc rsync python3 netcat-openbsd bind9-dnsutils apparmor'

mkdir -p state/lists/partial cache/archives/partial "$OUT/pool/main" "$OUT/dists/bookworm/main/binary-amd64"
{
  signed='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
  echo "deb $signed $MIRROR bookworm main"
  echo "deb $signed $MIRROR bookworm-updates main"
  if [ -n "$SECURITY" ]; then echo "deb $signed $SECURITY bookworm-security main"; fi
} > sources.list
apt() {
  apt-get -q -y -o Dir::State="$PWD/state" -o Dir::State::status="$BOOTSTRAP/tree/var/lib/dpkg/status" \
    -o Dir::Cache="$PWD/cache" -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferencesparts=/dev/null -o APT::Install-Recommends=false -o APT::Sandbox::User=root "$@"
}
apt update
# One at a time: some of them exclude each other.
for p in $packages; do apt install --download-only --reinstall "$p"; done
for p in haproxy keepalived chrony unattended-upgrades needrestart; do
  apt install --download-only -o APT::Install-Recommends=true "$p" # what a user's plain apt-get install brings
done

cp -n "$BOOTSTRAP"/archives/*.deb cache/archives/*.deb "$OUT/pool/main/"
cd "$OUT"
apt-ftparchive packages pool/main > dists/bookworm/main/binary-amd64/Packages
gzip -kn dists/bookworm/main/binary-amd64/Packages
apt-ftparchive -o APT::FTPArchive::Release::Origin=Debian -o APT::FTPArchive::Release::Label=Debian \
  -o APT::FTPArchive::Release::Suite=oldstable -o APT::FTPArchive::Release::Codename=bookworm \
  -o APT::FTPArchive::Release::Architectures=amd64 -o APT::FTPArchive::Release::Components=main \
  release dists/bookworm > Release
mv Release dists/bookworm/Release
gpg --batch --local-user "$KEY" --clearsign -o dists/bookworm/InRelease dists/bookworm/Release

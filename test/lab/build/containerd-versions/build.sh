#!/bin/sh
# A repository with several versions of containerd.io, as Docker's has. REPOSITORY_0, …: repositories with one version each. KEY, GNUPGHOME:
# who signs. OUT: root of the repository.
set -eu
pool=dists/bookworm/pool/stable/amd64
binary=dists/bookworm/stable/binary-amd64
mkdir -p "$OUT/$pool" "$OUT/$binary"
for from in $(env | sed -n 's/^REPOSITORY_[0-9]*=//p'); do cp "$from/$pool"/*.deb "$OUT/$pool/"; done
cd "$OUT"
apt-ftparchive packages $pool >$binary/Packages
gzip -kn $binary/Packages
apt-ftparchive -o APT::FTPArchive::Release::Origin=Docker -o 'APT::FTPArchive::Release::Label=Docker CE' \
  -o APT::FTPArchive::Release::Suite=bookworm -o APT::FTPArchive::Release::Codename=bookworm \
  -o APT::FTPArchive::Release::Architectures=amd64 -o APT::FTPArchive::Release::Components=stable \
  release dists/bookworm >Release
mv Release dists/bookworm/Release
gpg --batch --local-user "$KEY" --clearsign -o dists/bookworm/InRelease dists/bookworm/Release
gpg --batch --armor --export "$KEY" >gpg

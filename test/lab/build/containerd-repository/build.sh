#!/bin/sh
# A repository as Docker has one: containerd.io, with the configuration that it ships, in which CRI is switched off.
# VERSION: 2.2.9. CONTAINERD: the programs. DEBIAN: the result of debian/build.sh, for runc. KEY, GNUPGHOME: who signs. OUT: root of the repository.
set -eu
WORK=$PWD
pool=dists/bookworm/pool/stable/amd64
binary=dists/bookworm/stable/binary-amd64
mkdir -p root/DEBIAN "$OUT/$pool" "$OUT/$binary"
for p in containerd containerd-shim-runc-v2 ctr; do install -D -m 755 "$CONTAINERD/$p" "root/usr/bin/$p"; done
dpkg-deb -x "$DEBIAN"/pool/main/runc_*.deb runc
install -m 755 runc/usr/sbin/runc root/usr/bin/runc
install -D -m 644 containerd.service root/usr/lib/systemd/system/containerd.service
install -D -m 644 config.toml root/etc/containerd/config.toml
echo /etc/containerd/config.toml > root/DEBIAN/conffiles
for s in postinst prerm postrm; do install -m 755 containerd.$s root/DEBIAN/$s; done
cat > root/DEBIAN/control <<C
Package: containerd.io
Version: $VERSION-1
Architecture: amd64
Maintainer: Containerd team <help@containerd.io>
Section: devel
Priority: optional
Depends: libc6 (>= 2.34), libseccomp2 (>= 2.5.0)
Conflicts: containerd, runc
Replaces: containerd, runc
Provides: containerd, runc
Homepage: https://containerd.io
Description: An open and reliable container runtime
C
dpkg-deb --root-owner-group -Znone --build root "$OUT/$pool/containerd.io_$VERSION-1_amd64.deb"

cd "$OUT"
. "$WORK/docker-index.sh"

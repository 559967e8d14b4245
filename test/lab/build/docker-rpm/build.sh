#!/bin/sh
# An rpm repository as Docker has one for RHEL 9: containerd.io, with the configuration that it ships, in which CRI is off.
# VERSION: 2.2.9. CONTAINERD: the programs. DEBIAN: the result of debian/build.sh, for runc. KEY, GNUPGHOME: who signs: another
# key than that of Docker's Debian packages. OUT: gets gpg and 9/x86_64/stable/.
set -eu
. ./rpm.sh
for p in containerd containerd-shim-runc-v2 ctr; do install -D -m 755 "$CONTAINERD/$p" "root/containerd.io/usr/bin/$p"; done
dpkg-deb -x "$DEBIAN"/pool/main/runc_*.deb runc
install -m 755 runc/usr/sbin/runc root/containerd.io/usr/bin/runc
install -D -m 644 containerd.service root/containerd.io/usr/lib/systemd/system/containerd.service
install -D -m 644 config.toml root/containerd.io/etc/containerd/config.toml
{
  printf 'Requires: container-selinux >= 2:2.74\nRequires: libseccomp\nProvides: containerd\nProvides: runc\n'
  printf 'Conflicts: containerd\nConflicts: runc\nObsoletes: containerd\nObsoletes: runc\n'
  service_scripts containerd.service
} | rpm_of containerd.io "$VERSION" 1.el9 x86_64 "$OUT/9/x86_64/stable/Packages"
rpm_repository "$OUT/9/x86_64/stable"
cp "$OUT/9/x86_64/stable/repodata/repomd.xml.key" "$OUT/gpg"
rm "$OUT/9/x86_64/stable/repodata/repomd.xml.key"

#!/bin/sh
# openSUSE Leap's own repository, as far as the lab needs it: packages that the database of the base tree starts with, and those
# that hosts install. The runtime comes from here, in packages laid out as openSUSE's: containerd-ctr is a package and a program.
# BASE: the tree of Debian 12, whose programs some of them hold; the rest is without files. CONTAINERD: the programs, VERSION:
# theirs. DEBIAN: the result of debian/build.sh, for runc. KEY, GNUPGHOME: who signs. OUT: gets key.asc, base/ and repo/oss/x86_64/.
set -eu
. ./rpm.sh
. ./libraries.sh
oss=$OUT/repo/oss/x86_64
release=160000.1.2
# openSUSE's package replaces its settings at every installation.
rpmbuild() {
  sed -i 's/^%config(noreplace)/%config/' ./*.spec
  command rpmbuild "$@"
}
empty() { # NAME VERSION FOLDER [PREAMBLE...]
  name=$1 version=$2 folder=$3
  shift 3
  for line in "$@"; do echo "$line"; done | rpm_of "$name" "$version" "$release" noarch "$folder"
}
file() { # PACKAGE PATH : of Debian's tree
  install -D -m 755 "$BASE/tree$2" "root/$1$2"
}

empty openSUSE-release 16.0 "$OUT/base" 'Provides: distribution-release' 'Provides: product() = Leap' 'Provides: product(Leap) = 16.0-0'
empty bash 5.2.37 "$OUT/base" 'Provides: /bin/sh'
for p in coreutils systemd util-linux util-linux-systemd kmod iproute2 openssh-server sudo rpm zypper procps tar curl ca-certificates-mozilla; do
  empty "$p" 16.0 "$OUT/base"
done
libraries "$OUT/base" glibc libgcc_s1 libstdc++6
empty ca-certificates 2 "$OUT/base"
empty iptables 1.8.11 "$OUT/base"

empty container-selinux 2.242.0 "$oss"
file conntrack-tools /usr/sbin/conntrack
file ethtool /usr/sbin/ethtool
file socat /usr/bin/socat
for p in conntrack-tools ethtool socat; do rpm_of "$p" 6.2 "$release" x86_64 "$oss" < /dev/null; done

for p in containerd containerd-shim-runc-v2; do install -D -m 755 "$CONTAINERD/$p" "root/containerd/usr/sbin/$p"; done
install -D -m 755 "$CONTAINERD/ctr" root/containerd-ctr/usr/sbin/containerd-ctr
install -D -m 644 containerd.service root/containerd/usr/lib/systemd/system/containerd.service
mkdir -p root/containerd/etc/containerd
echo '# See containerd-config.toml(5) for documentation.' > root/containerd/etc/containerd/config.toml
{
  printf 'Requires: runc\nProvides: cri-runtime\n'
  service_scripts containerd.service
} | rpm_of containerd "$VERSION" "$release" x86_64 "$oss"
echo "Requires: containerd = $VERSION" | rpm_of containerd-ctr "$VERSION" "$release" x86_64 "$oss"
dpkg-deb -x "$DEBIAN"/pool/main/runc_*.deb runc
install -D -m 755 runc/usr/sbin/runc root/runc/usr/bin/runc
rpm_of runc 1.3.4 "$release" x86_64 "$oss" < /dev/null

cp "$OUT"/base/*.rpm "$oss/"
rpm_repository "$oss"
find "$OUT/base" -name '*.rpm' -exec rpmsign --addsign {} + > /dev/null
gpg --batch --armor --export "$KEY" > "$OUT/key.asc"

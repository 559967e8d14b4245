#!/bin/sh
# Rocky's BaseOS, as far as the lab needs it: packages that the database of the base tree starts with, and those that hosts
# install. BASE: the tree of Debian 12, whose programs some of them hold; the rest is without files. DEBS: Debian's packages
# of dnf, for its plugin. KEY, GNUPGHOME: who signs. OUT: gets RPM-GPG-KEY-Rocky-9, base/ and BaseOS/x86_64/os/.
set -eu
. ./rpm.sh
. ./libraries.sh
os=$OUT/BaseOS/x86_64/os
empty() { # NAME VERSION FOLDER [PREAMBLE...]
  name=$1 version=$2 folder=$3
  shift 3
  for line in "$@"; do echo "$line"; done | rpm_of "$name" "$version" 1.el9 noarch "$folder"
}
file() { # PACKAGE PATH : of Debian's tree
  install -D -m 755 "$BASE/tree$2" "root/$1$2"
}

empty rocky-release 9.6 "$OUT/base" 'Provides: system-release = 9.6' 'Provides: system-release(releasever) = 9' 'Provides: redhat-release = 9.6'
empty bash 5.1.8 "$OUT/base" 'Provides: /bin/sh'
for p in coreutils glibc-common systemd util-linux-core kmod iproute openssh-server sudo rpm dnf libseccomp procps-ng tar curl; do
  empty "$p" 9.6 "$OUT/base"
done
libraries "$OUT/base" glibc libgcc libstdc++
empty util-linux 2.37.4 "$OUT/base"
empty python3-libs 3.9 "$OUT/base"
empty iptables-nft 1.8.10 "$OUT/base" 'Provides: iptables = 1.8.10'

empty container-selinux 2.235.0 "$os" 'Epoch: 4'
file conntrack-tools /usr/sbin/conntrack
file iproute-tc /usr/sbin/tc
file ethtool /usr/sbin/ethtool
file socat /usr/bin/socat
for p in conntrack-tools iproute-tc ethtool socat; do rpm_of "$p" 6.2 1.el9 x86_64 "$os" < /dev/null; done
plugins=/usr/lib/python3/dist-packages/dnf-plugins
for deb in "$DEBS"/*dnf-plugins-core*.deb "$DEBS"/python3-dnf*.deb; do dpkg-deb -x "$deb" debs; done
install -D -m 644 "debs$plugins/versionlock.py" "root/python3-dnf-plugin-versionlock$plugins/versionlock.py"
mkdir -p root/python3-dnf-plugin-versionlock/etc/dnf/plugins
printf '[main]\nenabled = 1\nlocklist = /etc/dnf/plugins/versionlock.list\n' > root/python3-dnf-plugin-versionlock/etc/dnf/plugins/versionlock.conf
: > root/python3-dnf-plugin-versionlock/etc/dnf/plugins/versionlock.list
rpm_of python3-dnf-plugin-versionlock 4.3.0 1.el9 noarch "$os" < /dev/null
cp "$OUT"/base/*.rpm "$os/"
rpm_repository "$os"
find "$OUT/base" -name '*.rpm' -exec rpmsign --addsign {} + > /dev/null
gpg --batch --armor --export "$KEY" > "$OUT/RPM-GPG-KEY-Rocky-9"

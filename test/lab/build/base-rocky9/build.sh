#!/bin/sh
# Debian 12 dressed as Rocky Linux 9.6: its dnf 4.14 and rpm with a database of what a minimal Rocky has, its repository.
# BASE, DEBS: see dress.sh. REPOSITORY: the result of rocky-repository/, of which the database gets the packages of `base`.
# PACKAGES_URL: of the lab. OUT: gets tree/.
set -eu
. ./dress.sh
undress
os_release <<'S'
NAME="Rocky Linux"
VERSION="9.6 (Blue Onyx)"
ID="rocky"
ID_LIKE="rhel centos fedora"
VERSION_ID="9.6"
PLATFORM_ID="platform:el9"
PRETTY_NAME="Rocky Linux 9.6 (Blue Onyx)"
ANSI_COLOR="0;32"
CPE_NAME="cpe:/o:rocky:rocky:9::baseos"
HOME_URL="https://rockylinux.org/"
S
echo 'Rocky Linux release 9.6 (Blue Onyx)' > "$T/etc/redhat-release"
mkdir -p "$T/etc/rpm" "$T/etc/sysconfig" "$T/etc/pki/rpm-gpg" "$T/etc/yum.repos.d"
hide_debian
# Debian builds rpm for a database in the user's home.
printf '%%_dbpath /var/lib/rpm\n%%__gpg /usr/bin/gpg\n' > "$T/etc/rpm/macros.lab"
cat > "$T/etc/dnf/dnf.conf" <<'S'
[main]
gpgcheck=1
installonly_limit=3
clean_requirements_on_remove=True
best=True
skip_if_unavailable=False
S
# These two of Debian's plugins are its own. The third comes as a package, as on Rocky.
rm -f "$T"/etc/dnf/plugins/local.conf "$T"/usr/lib/python3/dist-packages/dnf-plugins/local.py \
  "$T"/usr/lib/python3/dist-packages/dnf-plugins/show_leaves.py "$T"/usr/lib/python3/dist-packages/dnf-plugins/versionlock.py \
  "$T"/etc/dnf/plugins/versionlock.*
# Programs that come as packages here, and are no part of a minimal Rocky.
rm -f "$T"/usr/sbin/conntrack "$T"/usr/sbin/tc "$T"/usr/sbin/ethtool "$T"/usr/bin/socat
cp "$REPOSITORY/RPM-GPG-KEY-Rocky-9" "$T/etc/pki/rpm-gpg/"
cat > "$T/etc/yum.repos.d/rocky.repo" <<S
[baseos]
name=Rocky Linux \$releasever - BaseOS
baseurl=$PACKAGES_URL/rocky\$releasever/BaseOS/\$basearch/os/
gpgcheck=1
enabled=1
countme=1
metadata_expire=6h
gpgkey=file:///etc/pki/rpm-gpg/RPM-GPG-KEY-Rocky-9
S
mkdir -p "$T/var/lib/rpm"
rpm --root "$T" --dbpath /var/lib/rpm --initdb
rpm --root "$T" --dbpath /var/lib/rpm --import "$REPOSITORY/RPM-GPG-KEY-Rocky-9"
rpm --root "$T" --dbpath /var/lib/rpm --force-debian -i --justdb --nodeps "$REPOSITORY"/base/*.rpm

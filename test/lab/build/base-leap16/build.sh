#!/bin/sh
# Debian 12 dressed as openSUSE Leap 16.0: zypper 1.14 and rpm with a database of what a minimal Leap has, its repository.
# BASE, DEBS: see dress.sh. REPOSITORY: the result of leap-repository/, of which the database gets the packages of `base`.
# PACKAGES_URL: of the lab. OUT: gets tree/.
set -eu
. ./dress.sh
undress
os_release <<'S'
NAME="openSUSE Leap"
VERSION="16.0"
ID="opensuse-leap"
ID_LIKE="suse opensuse"
VERSION_ID="16.0"
PRETTY_NAME="openSUSE Leap 16.0"
ANSI_COLOR="0;32"
CPE_NAME="cpe:/o:opensuse:leap:16.0"
HOME_URL="https://www.opensuse.org/"
S
mkdir -p "$T/etc/rpm" "$T/etc/sysconfig" "$T/etc/zypp/repos.d" "$T/var/lib/rpm" "$T/etc/pki/trust/anchors"
hide_debian
# Debian builds rpm for a database in the home of the user.
printf '%%_dbpath /var/lib/rpm\n%%__gpg /usr/bin/gpg\n' > "$T/etc/rpm/macros.lab"
# Programs that come as packages here, and are no part of a minimal Leap.
rm -f "$T"/usr/sbin/conntrack "$T"/usr/sbin/ethtool "$T"/usr/bin/socat
# SUSE's program reads anchors from other folders than Debian's, into the same bundle.
install -m 755 update-ca-certificates "$T/usr/sbin/update-ca-certificates"
cat > "$T/etc/zypp/repos.d/openSUSE:repo-oss.repo" <<S
[openSUSE:repo-oss]
name=repo-oss
enabled=1
autorefresh=1
baseurl=$PACKAGES_URL/leap16/repo/oss/\$basearch
S
rpm --root "$T" --dbpath /var/lib/rpm --initdb
rpm --root "$T" --dbpath /var/lib/rpm --import "$REPOSITORY/key.asc"
rpm --root "$T" --dbpath /var/lib/rpm --force-debian -i --justdb --nodeps "$REPOSITORY"/base/*.rpm

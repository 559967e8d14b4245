#!/bin/sh
# A minimal Debian 13, of the same packages as bootstrap/ makes Debian 12 of. Its own recipe, because all the lab is made
# of that one's result. MIRROR: Debian's mirror. OUT: gets tree/.
set -eu
include=systemd,systemd-sysv,dbus,openssh-server,sudo,iproute2,iptables,nftables,ca-certificates,conntrack,ethtool,socat
include=$include,kmod,procps,curl,gpg,python3-minimal,iputils-ping,netcat-openbsd
debootstrap --variant=minbase --keyring=/usr/share/keyrings/debian-archive-keyring.gpg --include="$include" trixie "$OUT/tree" "$MIRROR"
rm -f "$OUT/tree"/var/cache/apt/archives/*.deb

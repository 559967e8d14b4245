#!/bin/sh
# A minimal Debian of the hosts' suite. MIRROR: Debian's mirror. OUT: gets tree/ and archives/ (the packages it is made of).
set -eu
include=systemd,systemd-sysv,dbus,openssh-server,sudo,iproute2,iptables,nftables,ca-certificates,conntrack,ethtool,socat
include=$include,kmod,procps,curl,gpg,python3-minimal,iputils-ping,netcat-openbsd
debootstrap --variant=minbase --include="$include" bookworm "$OUT/tree" "$MIRROR"
mkdir "$OUT/archives"
mv "$OUT/tree"/var/cache/apt/archives/*.deb "$OUT/archives/"

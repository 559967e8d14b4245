#!/bin/sh
# Programs of the lab's own services, out of Debian's packages but not installed: no daemon of theirs starts here.
# DEBIAN: the result of debian/build.sh. OUT: folder for the programs.
set -eu
for p in busybox-static docker-registry; do dpkg-deb -x "$DEBIAN"/pool/main/${p}_*.deb root; done
cp root/bin/busybox root/usr/bin/docker-registry "$OUT/"

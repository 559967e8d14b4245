# shellcheck shell=sh
# Functions for the recipes of trees that are Debian in another system's clothes. BASE, DEBS: folders of tree/ and of the
# packages with the other system's programs. OUT: gets tree/, which `undress` begins and `hide_debian` ends.
T=$OUT/tree

# The tree of Debian, with the packages.
undress() {
  cp -a --reflink=auto "$BASE/tree" "$T"
  mkdir "$T/debs"
  cp "$DEBS"/*.deb "$T/debs/"
  printf '#!/bin/sh\nexit 101\n' > "$T/usr/sbin/policy-rc.d"
  chmod 755 "$T/usr/sbin/policy-rc.d"
  DEBIAN_FRONTEND=noninteractive chroot "$T" sh -c 'dpkg --unpack --force-unsafe-io /debs/*.deb && dpkg --configure -a'
  rm -rf "$T/debs" "$T/usr/sbin/policy-rc.d"
}

# os-release, from stdin.
os_release() {
  rm -f "$T/etc/os-release" "$T/usr/lib/os-release" "$T/etc/debian_version" "$T"/etc/issue "$T"/etc/issue.net
  cat > "$T/usr/lib/os-release"
  ln -s ../usr/lib/os-release "$T/etc/os-release"
}

# Debian's package tools, their settings and databases: the other system has none of them.
hide_debian() {
  rm -rf "$T"/etc/apt "$T"/var/lib/apt "$T"/var/cache/apt "$T"/usr/lib/apt "$T"/etc/dpkg "$T"/var/lib/dpkg \
    "$T"/etc/systemd/system/timers.target.wants/apt-* "$T"/usr/lib/systemd/system/apt-* "$T"/usr/lib/systemd/system/dpkg-* \
    "$T"/usr/share/doc/*
  find "$T/usr/bin" "$T/usr/sbin" \( -name 'apt*' -o -name 'dpkg*' -o -name 'debconf*' \) -delete
}

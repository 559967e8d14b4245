#!/bin/sh
# A host of the lab with a userland of arm64: whoever logs in by SSH gets into it, and qemu-user runs its programs. The host itself,
# with its kernel, its systemd and its sshd, stays as it is. BASE: the tree of Debian 12. DEBS: packages and the emulator.
# OUT: gets tree/.
set -eu
cp -a --reflink=auto "$BASE/tree" "$OUT/tree"
T=$OUT/tree
A=$T/arm64
mkdir -p "$A/usr/bin" "$A/usr/sbin" "$A/usr/lib" "$A/var/lib/dpkg/info" "$A/var/lib/dpkg/updates"
for d in bin sbin lib; do ln -s "usr/$d" "$A/$d"; done

# Unpacked, not installed: no script of a package runs, which would take half an hour under emulation.
for deb in "$DEBS"/*.deb; do
  dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$A"
  dpkg-deb -f "$deb" | awk '{ print } /^Package: / { print "Status: install ok installed" }' >> "$A/var/lib/dpkg/status"
  echo >> "$A/var/lib/dpkg/status"
  name=$(dpkg-deb -f "$deb" Package)
  case $(dpkg-deb -f "$deb" Multi-Arch) in same) name=$name:arm64 ;; esac
  dpkg-deb --fsys-tarfile "$deb" | tar -t | sed 's,^\.,,; s,/$,,; s,^$,/.,' > "$A/var/lib/dpkg/info/$name.list"
done
ln -sf dash "$A/usr/bin/sh"
ln -sf mawk "$A/usr/bin/awk"
for program in iptables iptables-save ip6tables ip6tables-save; do ln -sf xtables-nft-multi "$A/usr/sbin/$program"; done
# What scripts of packages make: users, and the one file of all authorities.
cp "$A/usr/share/base-passwd/passwd.master" "$A/etc/passwd"
cp "$A/usr/share/base-passwd/group.master" "$A/etc/group"
sed -i 's,^root:[^:]*:,root:x:,' "$A/etc/passwd"
echo '_apt:x:42:65534::/nonexistent:/usr/sbin/nologin' >> "$A/etc/passwd"
find "$A/usr/share/ca-certificates" -name '*.crt' -exec cat {} + > "$A/etc/ssl/certs/ca-certificates.crt"
rm -f "$A/etc/apt/sources.list"
install -d "$A/etc/apt/sources.list.d" "$A/etc/apt/keyrings" "$A/root" "$A/opt" "$A/var/lib/apt/lists/partial" "$A/var/cache/apt/archives/partial" "$A/var/log/apt"
chmod 1777 "$A/tmp"

install -D -m 755 "$DEBS/qemu-aarch64-static" "$T/usr/local/lib/qemu-aarch64-static"
install -m 755 arm64-up arm64-enter "$T/usr/local/sbin/"
install -D -m 755 systemd-run "$A/usr/local/bin/systemd-run"
# systemd-run looks for the program in its own tree before it asks systemd.
install -D -m 755 arm64-enter "$A/usr/local/sbin/arm64-enter"
install -m 644 arm64.service "$T/etc/systemd/system/arm64.service"
chroot "$T" systemctl --quiet enable arm64.service
install -d "$T/etc/ssh/sshd_config.d"
echo 'ForceCommand /usr/local/sbin/arm64-enter' > "$T/etc/ssh/sshd_config.d/arm64.conf"

#!/bin/sh
# Debian 12 dressed as Flatcar: containerd comes as a system extension, which systemd merges into /usr, and /usr cannot be
# written. BASE, DEBS: see dress.sh. CONTAINERD: the programs. DEBIAN: the result of debian/build.sh, for runc. OUT: gets tree/.
set -eu
. ./dress.sh
undress
os_release <<'S'
NAME="Flatcar Container Linux by Kinvolk"
ID=flatcar
ID_LIKE=coreos
VERSION=4459.0.0
VERSION_ID=4459.0.0
BUILD_ID=2025-09-22-1814
SYSEXT_LEVEL=1.0
PRETTY_NAME="Flatcar Container Linux by Kinvolk 4459.0.0 (Oklo)"
ANSI_COLOR="38;5;75"
FLATCAR_BOARD="amd64-usr"
S
hide_debian
# Pods of kube-proxy mount it.
mkdir -p "$T/usr/lib/modules"
ext=$T/etc/extensions/containerd-flatcar/usr
for p in containerd containerd-shim-runc-v2 ctr; do install -D -m 755 "$CONTAINERD/$p" "$ext/bin/$p"; done
dpkg-deb -x "$DEBIAN"/pool/main/runc_*.deb runc
install -m 755 runc/usr/sbin/runc "$ext/bin/runc"
install -D -m 644 containerd.service "$ext/lib/systemd/system/containerd.service"
install -D -m 644 config.toml "$ext/share/containerd/config.toml"
mkdir -p "$ext/lib/extension-release.d"
printf 'ID=flatcar\nSYSEXT_LEVEL=1.0\n' > "$ext/lib/extension-release.d/extension-release.containerd-flatcar"
# systemd knows the units of an extension after it has read its units anew.
install -m 644 ensure-sysext.service "$T/etc/systemd/system/ensure-sysext.service"
install -D -m 644 after-host.conf "$T/etc/systemd/system/systemd-sysext.service.d/lab.conf"
chroot "$T" systemctl --quiet enable systemd-sysext.service ensure-sysext.service
# The client of update_engine, on a host whose image is the newest.
printf '#!/bin/sh\necho CURRENT_OP=UPDATE_STATUS_IDLE\n' > "$T/usr/bin/update_engine_client"
chmod 755 "$T/usr/bin/update_engine_client"

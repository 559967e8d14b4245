#!/bin/sh
# The tree that every host lies over: a fresh Debian server as an administrator gets it, with sshd and a sudo user.
# BOOTSTRAP: the result of bootstrap/build.sh, or of another release's. SUITE: of the lab's Debian packages, or nothing: a
# release that it has none of. IDENTITY: public key for root and ops. KEY, GNUPGHOME: whose packages are trusted.
# PACKAGES_URL, GATEWAY: of the lab. OUT: gets tree/.
set -eu
cp -a --reflink=auto "$BOOTSTRAP/tree" "$OUT/tree"
T=$OUT/tree

rm -f "$T"/etc/ssh/ssh_host_* "$T/etc/apt/sources.list" "$T/etc/hostname"
: > "$T/etc/machine-id"
echo "nameserver $GATEWAY" > "$T/etc/resolv.conf" # nobody answers there: at once, instead of after a timeout
if [ -n "$SUITE" ]; then
  gpg --batch --export "$KEY" > "$T/usr/share/keyrings/lab-debian.gpg"
  echo "deb [signed-by=/usr/share/keyrings/lab-debian.gpg] $PACKAGES_URL/debian $SUITE main" > "$T/etc/apt/sources.list.d/lab-debian.list"
fi
echo 'Acquire::Languages "none";' > "$T/etc/apt/apt.conf.d/90lab"
# Packages come from next door: what is installed need not be kept packed too.
echo 'APT::Keep-Downloaded-Packages "false";' >> "$T/etc/apt/apt.conf.d/90lab"
# dpkg syncs every file; a lab host is thrown away.
echo force-unsafe-io > "$T/etc/dpkg/dpkg.cfg.d/lab"

chroot "$T" useradd --create-home --shell /bin/bash ops
echo 'ops ALL=(ALL:ALL) NOPASSWD: ALL' > "$T/etc/sudoers.d/ops"
chmod 440 "$T/etc/sudoers.d/ops"
for home in root home/ops; do
  install -d -m 700 "$T/$home/.ssh"
  echo "$IDENTITY" > "$T/$home/.ssh/authorized_keys"
  chmod 600 "$T/$home/.ssh/authorized_keys"
done
chroot "$T" chown -R ops:ops /home/ops/.ssh

install -m 644 lab-host.service "$T/etc/systemd/system/lab-host.service"
# Without this sshd may answer before pam_nologin lets anybody but root in.
install -d "$T/etc/systemd/system/ssh.service.d"
printf '[Unit]\nAfter=systemd-user-sessions.service\n' > "$T/etc/systemd/system/ssh.service.d/lab.conf"
chroot "$T" systemctl --quiet enable lab-host.service
# A pod that ignores SIGTERM would hold a reboot for 90 s.
install -d "$T/etc/systemd/system.conf.d"
printf '[Manager]\nDefaultTimeoutStopSec=10s\n' > "$T/etc/systemd/system.conf.d/lab.conf"
# Addresses are set from outside, and with a writable /sys networkd would wait for udev for ever.
chroot "$T" systemctl --quiet mask systemd-networkd.service systemd-networkd.socket systemd-networkd-wait-online.service \
  console-getty.service getty@tty1.service systemd-pstore.service 2>/dev/null
chroot "$T" systemctl --quiet disable apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \
  e2scrub_reap.service fstrim.timer
chroot "$T" systemctl --quiet set-default multi-user.target

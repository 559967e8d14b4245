#!/bin/sh
# Debian dressed as an Ubuntu server of a cloud: Debian's programs, with Ubuntu's os-release, sources and settings. cloud-init makes the
# user ubuntu at the first boot, and keeps root from logging in. BASE, DEBS: see dress.sh. REPOSITORY: the result of ubuntu-repository/.
# CODENAME, VERSION, NICKNAME: noble, 24.04.3, Noble Numbat. PACKAGES_URL, GATEWAY: of the lab. OUT: gets tree/.
set -eu
. ./dress.sh
undress
release=$(echo "$VERSION" | cut -d. -f1,2)
os_release <<S
PRETTY_NAME="Ubuntu $VERSION LTS"
NAME="Ubuntu"
VERSION_ID="$release"
VERSION="$VERSION LTS ($NICKNAME)"
VERSION_CODENAME=$CODENAME
ID=ubuntu
ID_LIKE=debian
HOME_URL="https://www.ubuntu.com/"
SUPPORT_URL="https://help.ubuntu.com/"
BUG_REPORT_URL="https://bugs.launchpad.net/ubuntu/"
UBUNTU_CODENAME=$CODENAME
LOGO=ubuntu-logo
S
cat > "$T/etc/lsb-release" <<S
DISTRIB_ID=Ubuntu
DISTRIB_RELEASE=$release
DISTRIB_CODENAME=$CODENAME
DISTRIB_DESCRIPTION="Ubuntu $VERSION LTS"
S
# That of the Debian which Ubuntu was made from, not the release of the userland.
case $CODENAME in jammy) echo bookworm/sid ;; noble) echo trixie/sid ;; *) echo forky/sid ;; esac > "$T/etc/debian_version"

# apt: one line each up to 22.04, deb822 since 24.04.
rm -f "$T"/etc/apt/sources.list.d/* "$T"/usr/share/keyrings/lab-debian.gpg
cp "$REPOSITORY/ubuntu-archive-keyring.gpg" "$T/usr/share/keyrings/ubuntu-archive-keyring.gpg"
archive=$PACKAGES_URL/$CODENAME/ubuntu
components='main restricted universe multiverse'
if [ "$CODENAME" = jammy ]; then
  cp "$REPOSITORY/ubuntu-archive-keyring.gpg" "$T/etc/apt/trusted.gpg.d/ubuntu-keyring-2018-archive.gpg"
  for suite in jammy jammy-updates jammy-backports jammy-security; do echo "deb $archive $suite $components"; done > "$T/etc/apt/sources.list"
else
  cat > "$T/etc/apt/sources.list.d/ubuntu.sources" <<S
Types: deb
URIs: $archive
Suites: $CODENAME $CODENAME-updates $CODENAME-backports
Components: $components
Signed-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg

Types: deb
URIs: $archive
Suites: $CODENAME-security
Components: $components
Signed-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg
S
  echo "# Ubuntu sources have moved to /etc/apt/sources.list.d/ubuntu.sources" > "$T/etc/apt/sources.list"
fi
cat > "$T/etc/apt/apt.conf.d/50unattended-upgrades" <<'S'
Unattended-Upgrade::Allowed-Origins {
	"${distro_id}:${distro_codename}";
	"${distro_id}:${distro_codename}-security";
	"${distro_id}ESMApps:${distro_codename}-apps-security";
	"${distro_id}ESM:${distro_codename}-infra-security";
};
Unattended-Upgrade::DevRelease "auto";
S
cat > "$T/etc/apt/apt.conf.d/20auto-upgrades" <<'S'
APT::Periodic::Update-Package-Lists "1";
APT::Periodic::Unattended-Upgrade "1";
S
# Ubuntu's restarts services by itself where nobody is asked. (The packages' timers stay off: tests start what they need.)
mkdir -p "$T/etc/needrestart/conf.d"
echo "\$nrconf{restart} = 'a';" > "$T/etc/needrestart/conf.d/ubuntu.conf"

# snapd, and a kubectl of it: found where nothing before it in the PATH is kubectl, and good for nothing.
mkdir -p "$T/snap/bin"
printf '#!/bin/sh\necho "cannot run kubectl: a snap of the lab does nothing" >&2\nexit 46\n' > "$T/snap/bin/kubectl"
chmod 755 "$T/snap/bin/kubectl"
echo 'PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games:/usr/local/games:/snap/bin"' > "$T/etc/environment"
sed -i 's|^Defaults[[:space:]]*secure_path=.*|Defaults	secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin"|' "$T/etc/sudoers"
grep -q snap/bin "$T/etc/sudoers"

# netplan's file as cloud-init writes it; networkd, which it is for, is masked in the lab. resolved asks the lab's name server.
mkdir -p "$T/etc/netplan" "$T/etc/systemd/resolved.conf.d"
printf 'network:\n  version: 2\n  ethernets:\n    eth0:\n      dhcp4: true\n' > "$T/etc/netplan/50-cloud-init.yaml"
chmod 600 "$T/etc/netplan/50-cloud-init.yaml"
printf '[Resolve]\nDNS=%s\nFallbackDNS=\n' "$GATEWAY" > "$T/etc/systemd/resolved.conf.d/lab.conf"
chroot "$T" systemctl --quiet enable systemd-resolved.service
ln -sf ../run/systemd/resolve/stub-resolv.conf "$T/etc/resolv.conf"
# Its udev would act on the devices of the whole machine; no kernel lets a container mount snaps, which snapd.seeded waits for.
chroot "$T" systemctl --quiet mask snapd.seeded.service systemd-udevd.service systemd-udevd-control.socket systemd-udevd-kernel.socket \
  systemd-udev-trigger.service systemd-udev-settle.service 2> /dev/null

printf '[DEFAULT]\nbanaction = nftables\nbanaction_allports = nftables[type=allports]\nbackend = systemd\n\n[sshd]\nenabled = true\n' \
  > "$T/etc/fail2ban/jail.d/defaults-debian.conf"

sed -i -e 's/distro: debian/distro: ubuntu/' -e 's/name: debian/name: ubuntu/' -e 's/gecos: Debian/gecos: Ubuntu/' \
  -e 's/groups: \[adm, .*/groups: [adm, cdrom, dip, sudo]/' "$T/etc/cloud/cloud.cfg"
grep -q 'name: ubuntu' "$T/etc/cloud/cloud.cfg"
echo 'datasource_list: [ NoCloud ]' > "$T/etc/cloud/cloud.cfg.d/90_dpkg.cfg"
# Names, host keys, addresses and the disk are the lab's.
cat > "$T/etc/cloud/cloud.cfg.d/99-lab.cfg" <<'S'
preserve_hostname: true
ssh_deletekeys: false
locale: C.UTF-8
network: { config: disabled }
growpart: { mode: "off" }
resize_rootfs: false
S
# Hosts of cgroup v1 are not told that a service's last process has gone, and cloud-init's wait for that for ever.
for unit in cloud-init-local cloud-init cloud-config cloud-final; do
  mkdir -p "$T/etc/systemd/system/$unit.service.d"
  printf '[Service]\nTimeoutStopSec=10s\n' > "$T/etc/systemd/system/$unit.service.d/lab.conf"
done
mkdir -p "$T/var/lib/cloud/seed/nocloud"
echo "instance-id: lab" > "$T/var/lib/cloud/seed/nocloud/meta-data"
printf '#cloud-config\nssh_authorized_keys:\n  - %s\n' "$(cat "$T/root/.ssh/authorized_keys")" > "$T/var/lib/cloud/seed/nocloud/user-data"

# 26.04: sudo-rs and uutils are sudo and most of coreutils there, in older versions than Ubuntu's.
if [ -e "$T/usr/bin/sudo-rs" ] || [ -e "$T/usr/lib/cargo/bin/sudo" ]; then
  rs=$(cd "$T" && ls usr/lib/cargo/bin/sudo usr/bin/sudo-rs 2> /dev/null | head -n 1)
  mv "$T/usr/bin/sudo" "$T/usr/bin/sudo.ws"
  ln -s "/$rs" "$T/usr/bin/sudo"
  for program in "$T"/usr/lib/cargo/bin/coreutils/*; do
    name=$(basename "$program")
    case $name in cp | mv | rm) continue ;; esac # GNU's in 26.04 too
    [ ! -e "$T/usr/bin/$name" ] || ln -sf "../lib/cargo/bin/coreutils/$name" "$T/usr/bin/$name"
  done
fi

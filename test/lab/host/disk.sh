#!/bin/bash
# Makes the disk of a virtual machine from the tree that prepare.sh has laid out. usage: disk.sh HOST_DIR
set -eu
cd "$1"
. ./host.env # OCTET ADDRESS GATEWAY
cat > root/etc/systemd/network/10-lab.network <<S
[Match]
MACAddress=$(printf '02:4b:4c:42:00:%02x' "$OCTET")
[Network]
Address=$ADDRESS/24
Gateway=$GATEWAY
IPv6AcceptRA=no
LinkLocalAddressing=no
S
# Files that this host alone has got have no labels yet: this machine's kernel has no SELinux.
unshare --mount sh -c "mount -t proc proc root/proc && exec chroot root setfiles -F /etc/selinux/default/contexts/files/file_contexts /etc"
rm -f disk/new.img
truncate --size=8G disk/new.img
mke2fs -q -t ext4 -d root -E lazy_itable_init=1 disk/new.img
# An overlay's own root takes no label from the tree. debugfs says of no fault that it was one.
debugfs -w -R 'ea_set / security.selinux system_u:object_r:root_t:s0' disk/new.img
debugfs -R 'ea_get / security.selinux' disk/new.img | grep -q root_t
mv disk/new.img disk/root.img
# From now on the host's files are in there.
umount root

#!/bin/sh
# Debian 12 as a virtual machine that QEMU boots, with Debian's kernel and SELinux enforcing by Debian's reference policy.
# BASE, DEBS: see dress.sh. TOOLS: the result of tools/build.sh. OUT: gets tree/, vmlinuz and initrd.
set -eu
. ./dress.sh
# The kernel's own scripts would make an initrd for a machine that can boot from a disk.
mkdir debs kernel
cp "$DEBS"/*.deb debs/
dpkg-deb -x debs/linux-image-6*.deb kernel
rm -f debs/linux-image-* debs/initramfs-tools* debs/linux-base_* debs/klibc-* debs/libklibc_*
DEBS=$PWD/debs
undress
version=$(ls kernel/lib/modules)
cp -a kernel/lib/modules "$T/usr/lib/"
chroot "$T" depmod "$version"
cp "kernel/boot/vmlinuz-$version" "$OUT/vmlinuz"
# kubeadm reads there what the kernel can do.
cp "kernel/boot/config-$version" "$T/boot/"

# A whole machine has its own networkd, serial console and disk. The lab's service is for hosts that are containers.
chroot "$T" systemctl --quiet unmask systemd-networkd.service systemd-networkd.socket
chroot "$T" systemctl --quiet enable systemd-networkd.service
chroot "$T" systemctl --quiet disable lab-host.service
rm -f "$T/etc/systemd/system/lab-host.service"
echo '/dev/vda / ext4 defaults 0 0' > "$T/etc/fstab"
# Emulation is slow: what takes a second elsewhere takes half a minute here.
printf '[Manager]\nDefaultTimeoutStopSec=60s\nDefaultTimeoutStartSec=600s\nDefaultDeviceTimeoutSec=600s\n' > "$T/etc/systemd/system.conf.d/lab.conf"
sed -i 's/^SELINUX=.*/SELINUX=enforcing/' "$T/etc/selinux/config"
# A host has its label from its first boot on: relabelling everything there would take longer than all else.
# It reads /proc, which no file of the tree hides here.
unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" setfiles -F -e /proc /etc/selinux/default/contexts/files/file_contexts /' "$T"

# Modules by which the root file system is reached, each after those that it needs. All others are in the tree.
mkdir -p initrd/bin initrd/dev initrd/root initrd/modules
cp "$TOOLS/busybox" initrd/bin/busybox
install -m 755 init initrd/init
n=0
for module in virtio/virtio_ring virtio/virtio virtio/virtio_pci_legacy_dev virtio/virtio_pci_modern_dev virtio/virtio_pci block/virtio_blk; do
  n=$((n + 1))
  cp "kernel/lib/modules/$version/kernel/drivers/$module.ko" initrd/modules/$n.ko
done
(cd initrd && find . | "$TOOLS/busybox" cpio -o -H newc) | gzip -1 > "$OUT/initrd"

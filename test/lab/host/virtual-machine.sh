#!/bin/bash
# Runs a virtual machine until it is switched off; it reboots by itself. Its serial console is the standard output.
# usage: virtual-machine.sh HOST_DIR
set -eu
cd "$1"
. ./host.env # NAME BASE OCTET
port=kbh${OCTET}n0
ip link del "$port" 2>/dev/null || true
ip tuntap add dev "$port" mode tap
ip link set "$port" master kblab0
[ -e partitioned ] || ip link set "$port" up
# As every host's, for its life.
[ -e product-uuid ] || cat /proc/sys/kernel/random/uuid > product-uuid
# Emulated, without KVM: a machine that is a virtual one itself may have a /dev/kvm that stock kernels hang on.
exec qemu-system-x86_64 -accel tcg,thread=multi -machine q35 -cpu max -smp 2 -m 3072 -uuid "$(cat product-uuid)" -name "$NAME" \
  -nodefaults -no-user-config -display none -monitor none -serial stdio \
  -kernel "$BASE/vmlinuz" -initrd "$BASE/initrd" \
  -append 'console=ttyS0 root=/dev/vda rw net.ifnames=0 security=selinux enforcing=1 audit=1 panic=10 systemd.show_status=1' \
  -drive "file=disk/root.img,format=raw,if=virtio,cache=unsafe" \
  -netdev "tap,id=n0,ifname=$port,script=no,downscript=no" \
  -device "virtio-net-pci,netdev=n0,mac=$(printf '02:4b:4c:42:00:%02x' "$OCTET")" \
  -device virtio-rng-pci < /dev/null

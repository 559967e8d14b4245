#!/bin/sh
# Makes of a privileged container what a server is, and becomes its init. Run as process 1.
set -eu

# The engine mounts its own files over these. A file that is mounted cannot be replaced, and programs replace them.
for file in /etc/hosts /etc/hostname /etc/resolv.conf; do
  grep -q " $file " /proc/self/mounts || continue
  content=$(cat "$file")
  umount "$file"
  printf '%s\n' "$content" > "$file"
done

# Pods share mounts with their host.
mount --make-rshared /

# cgroup v1: each hierarchy is a mount of its own, which some engines leave read-only.
for group in /sys/fs/cgroup /sys/fs/cgroup/*; do
  ! mountpoint -q "$group" || mount -o remount,rw "$group" 2> /dev/null || mount -o remount,bind,rw "$group" || true
done

# Of its own, from the first boot on.
if [ ! -e /etc/demo-host ]; then
  tr -d - < /proc/sys/kernel/random/uuid > /etc/machine-id
  ssh-keygen -q -A
  install -d -m 700 /root/.ssh
  touch /etc/demo-host
fi

export container=docker
exec /sbin/init

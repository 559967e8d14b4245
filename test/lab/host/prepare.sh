#!/bin/bash
# Lays a fresh host over the base tree. Run again, it changes nothing. usage: prepare.sh HOST_DIR
set -eu
cd "$1"
. ./host.env # NAME BASE PREPARED ADDRESS INTERNAL OCTET
mkdir -p disk/{upper,work,containerd,containers,kubelet,etcd} root keys
lower="$BASE/tree"
[ -z "${PREPARED:-}" ] || lower="$PREPARED/upper:$lower"
mountpoint -q root || mount -t overlay -o "lowerdir=$lower,upperdir=disk/upper,workdir=disk/work" "kblab-$NAME" root

# Host keys live beside the disk: a host that is reset keeps them.
for type in ed25519 ecdsa; do
  [ -e keys/ssh_host_${type}_key.pub ] || { rm -f keys/ssh_host_${type}_key; ssh-keygen -q -t $type -N '' -C "root@$NAME" -f keys/ssh_host_${type}_key; }
done
[ ! -e disk/prepared ] || exit 0
if [ -n "${PREPARED:-}" ]; then
  # Blobs and snapshots are never written again: a link is as good as a copy. What containerd writes in place is copied.
  rm -rf disk/containerd
  cp -al "$PREPARED/containerd" disk/containerd
  (cd "$PREPARED/containerd" && find . \( -name blobs -o -name snapshots \) -prune -o -type f -print0) |
    while IFS= read -r -d '' file; do cp -a --remove-destination "$PREPARED/containerd/$file" "disk/containerd/$file"; done
fi
cp keys/ssh_host_* root/etc/ssh/
systemd-id128 new > root/etc/machine-id
echo "$NAME" > root/etc/hostname
printf '127.0.0.1\tlocalhost\n127.0.1.1\t%s\n::1\tlocalhost ip6-localhost ip6-loopback\nff02::1\tip6-allnodes\nff02::2\tip6-allrouters\n' "$NAME" > root/etc/hosts
touch disk/prepared

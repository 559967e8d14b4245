# shellcheck shell=sh disable=SC2154  # parameters come from outside
# given: etcd
# Defragments the local member of etcd, which does not answer meanwhile. etcd writes a new file beside the old one.
# Fails before that unless the disk of FOLDER, the folder of etcd's data, has BYTES free. `e` and "$@" (etcdctl and its
# flags) come from outside.
free=$(df -P -k -- "$FOLDER" | awk 'NR == 2 { print $4 }')
if [ "$((free * 1024))" -lt "$BYTES" ]; then
  echo "$FOLDER has $((free / 1024)) MiB free, and etcd needs $((BYTES / 1048576 + 1)) MiB there for a new file" \
    "of its data: make room on this disk first" >&2
  exit 1
fi
e defragment "$@" --command-timeout 15m defrag

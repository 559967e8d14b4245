# shellcheck shell=sh disable=SC2154  # parameters come from outside
# given: etcd
# Defragments the local member of etcd, which answers nothing meanwhile. etcd writes its data anew beside the old file:
# nothing is done unless the disk of FOLDER, that of etcd's data, has BYTES free. `e` and "$@" (etcdctl and its flags)
# come from outside.
free=$(df -P -k -- "$FOLDER" | awk 'NR == 2 { print $4 }')
if [ "$((free * 1024))" -lt "$BYTES" ]; then
  echo "$FOLDER has $((free / 1024)) MiB free, and etcd writes its data anew there, $((BYTES / 1048576 + 1)) MiB: make room on this disk first" >&2
  exit 1
fi
e defragment "$@" --command-timeout 15m defrag

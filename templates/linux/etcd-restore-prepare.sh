# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Makes etcd's data of one member from the snapshot in the folder WORK, beside the live data; touches nothing else. When it
# fails WORK goes. Parameters: WORK, MANIFESTS (where that of etcd may lie), NAME, PEER (URL of this member), CLUSTER
# (name=url,… of all), TOKEN. It uses the functions of templates/runtimes/: etcdutl comes out of etcd's image, which has no shell; it is one static program.
image=
finish() {
  status=$?
  if [ -n "$image" ]; then
    runtime_unmount_image "$image" || umount "$image" 2>/dev/null || true
    rmdir "$image" 2>/dev/null || true
  fi
  if [ "$status" -ne 0 ]; then rm -rf -- "$WORK"; fi
  exit "$status"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
reference=
for manifest in $MANIFESTS; do
  if [ -e "$manifest" ]; then
    if grep -q -- '--wal-dir' "$manifest"; then
      echo "$manifest has --wal-dir: kbuild cannot restore an etcd whose log lies in another folder" >&2
      exit 1
    fi
    reference=$(sed -n 's/^ *image: *//p' "$manifest" | head -n 1)
    break
  fi
done
image=$(mktemp -d -p /run kbuild-etcd.XXXXXX)
runtime_mount_image "$reference" "$image"
etcdutl=
for path in usr/local/bin/etcdutl usr/bin/etcdutl bin/etcdutl; do
  if [ -x "$image/$path" ]; then etcdutl=$image/$path; fi
done
if [ -z "$etcdutl" ]; then
  echo "$reference has no etcdutl" >&2
  exit 1
fi
rm -rf -- "$WORK/data"
"$etcdutl" snapshot status "$WORK/snapshot.db" -w json
"$etcdutl" snapshot restore "$WORK/snapshot.db" --data-dir "$WORK/data" --name "$NAME" --initial-advertise-peer-urls "$PEER" \
  --initial-cluster "$CLUSTER" --initial-cluster-token "$TOKEN" --bump-revision 1000000000 --mark-compacted >&2
chmod 700 "$WORK" "$WORK/data"
rm -f -- "$WORK/snapshot.db"
sync

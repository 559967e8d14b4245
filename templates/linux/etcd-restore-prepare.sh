# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Makes etcd's data of one member from the snapshot FILE, in the new folder DATA beside the live one; touches nothing else.
# Parameters: FILE, DATA, IMAGE (of etcd), NAME, PEER (URL of this member), CLUSTER (name=url,… of all), TOKEN.
# etcdutl comes out of etcd's image, which has no shell; it is one static program.
image=$(mktemp -d -p /run kbuild-etcd.XXXXXX)
trap 'ctr -n k8s.io images unmount --rm "$image" >/dev/null 2>&1 || umount "$image" 2>/dev/null || true; rmdir "$image" 2>/dev/null || true' EXIT
ctr -n k8s.io images mount "$IMAGE" "$image" >/dev/null
etcdutl=
for path in usr/local/bin/etcdutl usr/bin/etcdutl bin/etcdutl; do
  if [ -x "$image/$path" ]; then etcdutl=$image/$path; fi
done
if [ -z "$etcdutl" ]; then
  echo "$IMAGE has no etcdutl" >&2
  exit 1
fi
rm -rf -- "$DATA"
"$etcdutl" snapshot status "$FILE" -w json
"$etcdutl" snapshot restore "$FILE" --data-dir "$DATA" --name "$NAME" --initial-advertise-peer-urls "$PEER" \
  --initial-cluster "$CLUSTER" --initial-cluster-token "$TOKEN" --bump-revision 1000000000 --mark-compacted >&2
chmod 700 "$DATA"

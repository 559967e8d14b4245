# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: etcd/etcd-image.sh
# given: runtime
# Makes etcd's data of one member from the snapshot in the folder WORK, beside the live data; changes nothing else.
# Deletes WORK on failure. Parameters: WORK, MANIFESTS (possible paths of etcd's manifest), NAME, PEER (URL of this
# member), CLUSTER (name=url,… of all), TOKEN. Uses etcd-image.sh.
mount_etcd_image
etcdutl=$(etcd_program etcdutl)
rm -rf -- "$WORK/data"
"$etcdutl" snapshot status "$WORK/snapshot.db" -w json
"$etcdutl" snapshot restore "$WORK/snapshot.db" --data-dir "$WORK/data" --name "$NAME" --initial-advertise-peer-urls "$PEER" \
  --initial-cluster "$CLUSTER" --initial-cluster-token "$TOKEN" --bump-revision 1000000000 --mark-compacted >&2
chmod 700 "$WORK" "$WORK/data"
rm -f -- "$WORK/snapshot.db"
sync

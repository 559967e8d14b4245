# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: etcd/etcd-image.sh
# given: runtime
# Writes WORK/snapshot.db: all data in FOLDER, whose etcd has stopped. A single surviving member has no quorum and
# serves nothing, and its last writes may be in its log only. So a temporary etcd serves a copy of the data, without the
# other members, to this host only and with etcd's own certificates. FOLDER stays as it is. Parameters also: MANIFESTS,
# NAME. Uses etcd-image.sh, whose `manifest` has the flags.
server=
stop() {
  status=$?
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  finish "$status"
}
mount_etcd_image
trap stop EXIT
# etcd holds a lock on its database while it runs.
if ! flock -n "$FOLDER/member/snap/db" true; then
  echo "an etcd still runs with the data in $FOLDER: it cannot be copied" >&2
  exit 1
fi
etcd=$(etcd_program etcd)
etcdctl=$(etcd_program etcdctl)
umask 077
rm -rf -- "$WORK"
mkdir -p "$WORK/copy"
cp -a --reflink=auto -- "$FOLDER/member" "$WORK/copy/member"
flag() {
  sed -n "s/^ *- --$1=//p" "$manifest" | tail -n 1
}
set --
for name in cert-file key-file trusted-ca-file peer-cert-file peer-key-file peer-trusted-ca-file quota-backend-bytes; do
  value=$(flag "$name")
  if [ -n "$value" ]; then set -- "$@" "--$name=$value"; fi
done
"$etcd" --name "$NAME" --data-dir "$WORK/copy" --force-new-cluster --client-cert-auth --peer-client-cert-auth \
  --listen-client-urls https://127.0.0.1:2379 --advertise-client-urls https://127.0.0.1:2379 \
  --listen-peer-urls https://127.0.0.1:2380 "$@" >"$WORK/etcd.log" 2>&1 &
server=$!
set -- --endpoints https://127.0.0.1:2379 --cacert "$(flag trusted-ca-file)" --cert "$(flag cert-file)" --key "$(flag key-file)"
tries=0
# A linearizable read: when it succeeds, all of the log is applied.
until said=$("$etcdctl" "$@" --command-timeout 10s endpoint health 2>&1); do
  tries=$((tries + 1))
  if [ "$tries" -ge 120 ] || ! kill -0 "$server" 2>/dev/null; then
    printf 'etcd does not serve the copy of its data: %s\n' "$said" >&2
    tail -n 5 "$WORK/etcd.log" >&2
    exit 1
  fi
  sleep 1
done
"$etcdctl" "$@" --command-timeout 15m snapshot save "$WORK/snapshot.db" >&2
kill "$server"
wait "$server" || true
server=
rm -rf -- "$WORK/copy" "$WORK/etcd.log"

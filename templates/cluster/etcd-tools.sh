# shellcheck shell=sh disable=SC2034,SC2154  # ETCD_AT comes from outside; the runtime's functions use runtime_limit
# For the commands that follow: `e NAME ARGUMENT…` runs etcdctl in the running container of etcd, from its own image
# (which has no shell); `"$@"` become etcdctl and the flags that lead it to the local member at ETCD_AT (host:port).
# Uses the functions of templates/runtime/.
e() {
  name=$1
  shift
  runtime_exec "$id" "$name" "$@"
}
# A list takes milliseconds: a runtime that does not give one hangs.
runtime_limit='timeout 5'
id=$(runtime_running etcd | head -n 1)
runtime_limit=
if [ -z "$id" ]; then
  echo 'no etcd container runs, or the runtime does not answer' >&2
  exit 1
fi
pki=/etc/kubernetes/pki/etcd
set -- etcdctl --endpoints "https://$ETCD_AT" --cacert $pki/ca.crt --cert $pki/server.crt --key $pki/server.key --command-timeout 5s

# shellcheck shell=sh
# For the commands that follow: `e NAME ARGUMENT…` runs etcdctl in the running container of etcd, from its own image (which
# has no shell); `"$@"` become etcdctl and the flags that lead it to the local member. Without crictl, containerd's own
# client is used.
e() {
  name=$1
  shift
  if command -v crictl >/dev/null; then
    crictl -r unix:///run/containerd/containerd.sock exec -s "$id" "$@"
  else ctr -n k8s.io tasks exec --exec-id "kbuild-$$-$name" "$id" "$@"; fi
}
# A list takes milliseconds: a runtime that does not give one hangs.
id=
if command -v crictl >/dev/null; then
  id=$(timeout 5 crictl -r unix:///run/containerd/containerd.sock ps -q --name '^etcd$' --state Running | head -n 1)
else
  running=$(timeout 5 ctr -n k8s.io tasks ls | awk '$3 == "RUNNING" { print $1 }')
  for each in $(timeout 5 ctr -n k8s.io containers ls -q 'labels."io.kubernetes.container.name"==etcd'); do
    if echo "$running" | grep -qx "$each"; then id=$each; fi
  done
fi
if [ -z "$id" ]; then
  echo 'no etcd container runs, or the runtime does not answer' >&2
  exit 1
fi
pki=/etc/kubernetes/pki/etcd
set -- etcdctl --endpoints https://127.0.0.1:2379 --cacert $pki/ca.crt --cert $pki/server.crt --key $pki/server.key --command-timeout 5s

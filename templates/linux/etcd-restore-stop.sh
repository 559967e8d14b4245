# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Stops the control plane of this host: its static pods' manifests are put aside in ASIDE, and their containers waited for.
mkdir -p -m 700 "$ASIDE"
for name in kube-apiserver kube-controller-manager kube-scheduler etcd; do
  if [ -e "/etc/kubernetes/manifests/$name.yaml" ]; then mv "/etc/kubernetes/manifests/$name.yaml" "$ASIDE/$name.yaml"; fi
done
running() {
  for name in kube-apiserver kube-controller-manager kube-scheduler etcd; do
    for id in $(ctr -n k8s.io containers ls -q "labels.\"io.kubernetes.container.name\"==$name"); do
      ctr -n k8s.io tasks ls | awk -v id="$id" '$1 == id && $3 == "RUNNING" { print id }'
    done
  done
}
tries=0
while [ -n "$(running)" ]; do
  tries=$((tries + 1))
  if [ "$tries" -ge 120 ]; then
    echo 'the control plane did not stop within 2 minutes' >&2
    exit 1
  fi
  sleep 1
done

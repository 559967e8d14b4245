# Stops the control plane of a host that has half an init: its manifests go, and its containers are waited for.
rm -f /etc/kubernetes/manifests/kube-apiserver.yaml /etc/kubernetes/manifests/kube-controller-manager.yaml /etc/kubernetes/manifests/kube-scheduler.yaml
running() {
  for name in kube-apiserver kube-controller-manager kube-scheduler; do
    for id in $(ctr -n k8s.io containers ls -q "labels.\"io.kubernetes.container.name\"==$name"); do
      ctr -n k8s.io tasks ls | awk -v id="$id" '$1 == id && $3 == "RUNNING" { print id }'
    done
  done
}
# Nobody else ends them where the kubelet does not run.
if ! systemctl is-active -q kubelet; then
  for id in $(running); do ctr -n k8s.io tasks kill -s KILL "$id" || true; done
fi
tries=0
while [ -n "$(running)" ]; do
  tries=$((tries + 1))
  if [ "$tries" -ge 120 ]; then
    echo 'the control plane did not stop within 2 minutes' >&2
    exit 1
  fi
  sleep 1
done

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Stops the static pods in NAMES (one a line) on this host: their manifests are put aside in ASIDE, or removed where that is
# empty, and their containers are waited for.
if [ -n "$ASIDE" ]; then mkdir -p -m 700 "$ASIDE"; fi
for name in $NAMES; do
  manifest=/etc/kubernetes/manifests/$name.yaml
  if [ -z "$ASIDE" ]; then
    rm -f "$manifest"
  elif [ -e "$manifest" ]; then
    mv "$manifest" "$ASIDE/$name.yaml"
  fi
done
running() {
  for name in $NAMES; do
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

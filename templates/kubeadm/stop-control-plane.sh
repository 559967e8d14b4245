# shellcheck shell=sh disable=SC2154  # parameters come from outside
# given: runtime
# Stops the static pods in NAMES (one a line) on this host: their manifests are put aside in ASIDE, or removed where
# that is empty, and their containers are waited for. It uses the functions of templates/runtime/.
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
  for name in $NAMES; do runtime_running "$name" || return; done
}
# Without a kubelet nothing else ends them.
if ! systemctl is-active -q kubelet; then
  for id in $(running); do runtime_signal KILL "$id" || true; done
fi
tries=0
# While the runtime does not answer, they may run.
until ids=$(running) && [ -z "$ids" ]; do
  tries=$((tries + 1))
  # A kubelet that has not reached an API since it started removes no pod: "skipping delete because sources aren't ready
  # yet" (kubelet.go).
  if [ "$tries" -eq 40 ] && systemctl is-active -q kubelet; then
    trap 'systemctl start kubelet' EXIT
    systemctl stop kubelet
    for id in $ids; do runtime_signal TERM "$id" || true; done
  elif [ "$tries" -eq 80 ]; then
    for id in $ids; do runtime_signal KILL "$id" || true; done
  fi
  if [ "$tries" -ge 120 ]; then
    echo 'the control plane did not stop within 2 minutes' >&2
    exit 1
  fi
  sleep 1
done

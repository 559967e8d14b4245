# shellcheck shell=sh disable=SC2034,SC2154
# Parameters come from outside; the functions of templates/runtime/ use runtime_limit.
# given: runtime
# Starts all pods of this host anew, static pods too: the kubelet stops, every container of Kubernetes ends, and the
# kubelet starts again with its present configuration. Parameters: CONFIG (the kubelet's file), DRIVER (the cgroup
# driver that it must name). It uses the functions of templates/runtime/.
if ! grep -Eq "^cgroupDriver: *[\"']?${DRIVER}[\"']? *\$" "$CONFIG"; then
  echo "$CONFIG does not name the cgroup driver $DRIVER: the ConfigMap kube-system/kubelet-config may have" \
    "another one" >&2
  exit 1
fi
runtime_limit='timeout -k 1 60'
# Start the kubelet however the job ends: without it the host starts no pod.
trap 'systemctl start kubelet' EXIT
systemctl stop kubelet
signal_all() {
  for id in $ids; do { runtime_signal "$1" "$id" >/dev/null 2>&1 || true; } & done
  wait
}
tries=0
# While the runtime does not answer, they may run.
until ids=$(runtime_kept) && [ -z "$ids" ]; do
  case $tries in
    0) signal_all SIGTERM ;;
    30) signal_all KILL ;;
    90)
      echo "containers of Kubernetes still run: $(echo "$ids" | tr '\n' ' ')" >&2
      exit 1
      ;;
  esac
  tries=$((tries + 1))
  sleep 1
done
runtime_end_sandboxes

# shellcheck shell=sh
# Functions for jobs of kubeadm. `run_kubeadm ARGUMENTS` runs kubeadm and ends with its status.
#
# kubeadm gives the container runtime 2 s to answer, which cannot be set (defaultTimeout in
# cmd/kubeadm/app/util/runtime/runtime.go, 1.34 to 1.37). A runtime that unpacks images to a slow disk may need more.
# kubeadm's preflight checks change nothing, so it runs again while they find only that. What kubeadm writes on stderr
# is passed on when it has ended.
kubeadm_found() { grep '\[ERROR ' "$1"; }
runtime_was_late() {
  late='\[ERROR [A-Za-z]*\]: \(could not connect to the container runtime\|container runtime is not running\): .*DeadlineExceeded'
  kubeadm_found "$1" | grep -q "$late" && ! kubeadm_found "$1" | grep -qv "$late"
}
run_kubeadm() {
  kubeadm_from=$(date +%s)
  while :; do
    kubeadm_status=0
    kubeadm "$@" 2>kubeadm-errors || kubeadm_status=$?
    kubeadm_waited=$(($(date +%s) - kubeadm_from))
    if [ $kubeadm_status -eq 0 ] || [ "$kubeadm_waited" -ge 120 ] || ! runtime_was_late kubeadm-errors; then
      cat kubeadm-errors >&2
      return $kubeadm_status
    fi
    echo "waiting: the container runtime does not answer within 2 s ($kubeadm_waited s of at most 120 s)"
    sleep 1
  done
}

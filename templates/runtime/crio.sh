# shellcheck shell=sh disable=SC2034,SC2086  # the scripts that follow use these; runtime_limit is several words
# Functions that kbuild's scripts use on CRI-O, the same as in the other files of this folder. CRI-O has no client of
# its own: its packages bring crictl. By default crictl waits 2 s for the runtime.
runtime_unit=crio
runtime_packages=cri-o
# Units that speak CRI for the runtime, beside its own.
runtime_more_units=
runtime_endpoint=unix:///run/crio/crio.sock
# A folder that grows while images are pulled.
runtime_downloads=/var/lib/containers/storage/overlay
# Words before every command that lists or signals containers, e.g. `timeout 10`.
runtime_limit=

runtime_is_installed() { command -v crictl >/dev/null && systemctl -q is-enabled crio 2>/dev/null; }
runtime_answers() { timeout -k 1 15 crictl -t 15s -r "$runtime_endpoint" version >/dev/null 2>&1; }
# Pulls the image $1.
runtime_pull() { crictl -t 30s -r "$runtime_endpoint" pull "$1"; }
# CRI-O cannot mount an image by itself.
runtime_mount_image() {
  echo "kbuild cannot read the image $1 of CRI-O" >&2
  return 1
}
runtime_unmount_image() { :; }
# IDs of Kubernetes' containers that run.
runtime_kept() { timeout -k 1 15 crictl -t 15s -r "$runtime_endpoint" ps -q 2>/dev/null; }
# IDs of the containers of kube-system of the name $1, running or not; only the running ones. A pod of a user may have a
# container of the same name. Fails if the runtime does not answer.
runtime_containers() {
  $runtime_limit crictl -t 30s -r "$runtime_endpoint" ps -a -q --label io.kubernetes.pod.namespace=kube-system --name "^$1\$"
}
runtime_running() {
  $runtime_limit crictl -t 30s -r "$runtime_endpoint" ps -q --label io.kubernetes.pod.namespace=kube-system --name "^$1\$" --state Running
}
# Sends the signal $1 (SIGTERM, KILL) to the container $2; crictl kills after its timeout in seconds.
runtime_signal() {
  runtime_grace=30
  if [ "$1" = KILL ]; then runtime_grace=0; fi
  $runtime_limit crictl -t 30s -r "$runtime_endpoint" stop -t "$runtime_grace" "$2" >/dev/null
}
# Ends the sandboxes of pods without containers.
runtime_end_sandboxes() {
  for runtime_id in $($runtime_limit crictl -t 30s -r "$runtime_endpoint" pods -q --state Ready); do
    $runtime_limit crictl -t 60s -r "$runtime_endpoint" stopp "$runtime_id" >/dev/null
  done
}
# Runs a command in a container: ID NAME COMMAND…
runtime_exec() {
  runtime_id=$1
  shift 2
  crictl -t 30s -r "$runtime_endpoint" exec -s "$runtime_id" "$@"
}
# Prints what others have on the unit $1 of the runtime, a line each. Containers of podman are not CRI-O's.
runtime_others() { :; }

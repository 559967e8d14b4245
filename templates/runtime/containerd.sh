# shellcheck shell=sh disable=SC2034,SC2086  # the scripts that follow use these; runtime_limit is several words
# Functions that kbuild's scripts use on containerd, the same as in the other files of this folder. `crictl` comes from
# a package that is only recommended, so containerd's own client does what it does not. By default crictl waits 2 s for
# the runtime.
runtime_unit=containerd
runtime_packages='containerd containerd.io'
# Units that speak CRI for the runtime, beside its own.
runtime_more_units=
runtime_endpoint=unix:///run/containerd/containerd.sock
# A folder that grows while images are pulled.
runtime_downloads=/var/lib/containerd/io.containerd.content.v1.content
# containerd's own client; some systems pack it as containerd-ctr.
containerd_client=ctr
if command -v containerd-ctr >/dev/null; then containerd_client=containerd-ctr; fi
# Words before every command that lists or signals containers, e.g. `timeout 10`.
runtime_limit=

runtime_is_installed() { command -v "$containerd_client" >/dev/null && systemctl -q is-enabled containerd 2>/dev/null; }
runtime_answers() { timeout -k 1 15 "$containerd_client" -n k8s.io version >/dev/null 2>&1; }
# Pulls the image $1.
runtime_pull() {
  if command -v crictl >/dev/null; then
    crictl -t 30s -r "$runtime_endpoint" pull "$1"
  else
    "$containerd_client" -n k8s.io images pull --hosts-dir /etc/containerd/certs.d "$1"
  fi
}
# Mounts the image $1 at the folder $2, read-only; takes it away again.
runtime_mount_image() { "$containerd_client" -n k8s.io images mount "$1" "$2" >/dev/null; }
runtime_unmount_image() { "$containerd_client" -n k8s.io images unmount --rm "$1" >/dev/null 2>&1; }
# IDs of the processes of Kubernetes' containers.
runtime_kept() { timeout -k 1 15 "$containerd_client" -n k8s.io tasks ls -q 2>/dev/null; }
# IDs of the containers of kube-system of the name $1, running or not; only the running ones. A pod of a user may have a
# container of the same name. Fails if the runtime does not answer.
runtime_containers() {
  $runtime_limit "$containerd_client" -n k8s.io containers ls -q \
    "labels.\"io.kubernetes.container.name\"==$1,labels.\"io.kubernetes.pod.namespace\"==kube-system"
}
runtime_running() {
  if command -v crictl >/dev/null; then
    $runtime_limit crictl -t 30s -r "$runtime_endpoint" ps -q --label io.kubernetes.pod.namespace=kube-system --name "^$1\$" --state Running
    return
  fi
  # It asks every shim, so it is slower.
  runtime_tasks=$($runtime_limit "$containerd_client" -n k8s.io tasks ls) || return
  runtime_ids=$(runtime_containers "$1") || return
  for runtime_id in $runtime_ids; do
    echo "$runtime_tasks" | awk -v id="$runtime_id" '$1 == id && $3 == "RUNNING" { print id }'
  done
}
# Sends the signal $1 (SIGTERM, KILL) to the container $2.
runtime_signal() { $runtime_limit "$containerd_client" -n k8s.io tasks kill -s "$1" "$2"; }
# Ends the sandboxes of pods without containers: here they are containers as others, which `runtime_kept` names.
runtime_end_sandboxes() { :; }
# Runs a command in a container: ID NAME COMMAND…; NAME tells commands apart that run at the same time.
runtime_exec() {
  runtime_id=$1 runtime_name=$2
  shift 2
  if command -v crictl >/dev/null; then
    crictl -t 30s -r "$runtime_endpoint" exec -s "$runtime_id" "$@"
  else
    "$containerd_client" -n k8s.io tasks exec --exec-id "kbuild-$$-$runtime_name" "$runtime_id" "$@"
  fi
}
# Prints what others have on the unit $1 of the runtime, a line each: kbuild knows it by the shims that run, before.
runtime_others() { :; }

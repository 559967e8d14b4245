# shellcheck shell=sh disable=SC2034,SC2086  # the scripts that follow use these; runtime_limit is several words
# Functions that kbuild's scripts use on Docker Engine, the same as in the other files of this folder. Containers of
# Kubernetes have labels of cri-dockerd; Docker's own client is always there.
runtime_unit=docker
runtime_packages='docker-ce docker-ce-cli docker-ee docker-ee-cli docker.io containerd.io'
# Units that speak CRI for the runtime, beside its own.
runtime_more_units=cri-docker
runtime_endpoint=unix:///run/cri-dockerd.sock
# A folder that grows while images are pulled; containerd keeps the images of a Docker that was installed as 29 or
# newer.
runtime_downloads=/var/lib/containerd/io.containerd.content.v1.content
if [ -d /var/lib/docker/image/overlay2 ]; then runtime_downloads=/var/lib/docker/overlay2; fi
# Words before every command that lists or signals containers, e.g. `timeout 10`.
runtime_limit=

runtime_is_installed() { command -v docker >/dev/null && systemctl -q is-enabled docker 2>/dev/null; }
# kubeadm needs both, Docker and its CRI. cri-dockerd is started by its socket.
runtime_answers() {
  timeout -k 1 15 docker version >/dev/null 2>&1 || return
  if command -v crictl >/dev/null; then
    timeout -k 1 15 crictl -t 15s -r "$runtime_endpoint" version >/dev/null 2>&1
  else
    [ -S /run/cri-dockerd.sock ]
  fi
}
# Pulls the image $1.
runtime_pull() { docker pull -q "$1"; }
# Docker cannot mount an image by itself.
runtime_mount_image() {
  echo "kbuild cannot read the image $1 of Docker Engine" >&2
  return 1
}
runtime_unmount_image() { :; }
# IDs of Kubernetes' containers that run, those of sandboxes too.
runtime_kept() { timeout -k 1 15 docker ps -q --filter label=io.kubernetes.docker.type 2>/dev/null; }
# IDs of the containers of kube-system of the name $1, running or not; only the running ones. A pod of a user may have a
# container of the same name. Fails if the runtime does not answer.
runtime_containers() {
  $runtime_limit docker ps -a -q --no-trunc --filter label=io.kubernetes.docker.type=container \
    --filter label=io.kubernetes.pod.namespace=kube-system --filter "label=io.kubernetes.container.name=$1"
}
runtime_running() {
  $runtime_limit docker ps -q --no-trunc --filter label=io.kubernetes.docker.type=container --filter status=running \
    --filter label=io.kubernetes.pod.namespace=kube-system --filter "label=io.kubernetes.container.name=$1"
}
# Sends the signal $1 (SIGTERM, KILL) to the container $2.
runtime_signal() { $runtime_limit docker kill -s "$1" "$2" >/dev/null; }
# Ends the sandboxes of pods without containers: here they are containers as others, which `runtime_kept` names.
runtime_end_sandboxes() { :; }
# Runs a command in a container: ID NAME COMMAND…
runtime_exec() {
  runtime_id=$1
  shift 2
  docker exec "$runtime_id" "$@"
}
# Prints what others have on the unit $1 of the runtime, a line each. Docker: containers, running or not, named volumes
# and networks. containerd, which Docker starts containers by: containers that run for another client. Fails if Docker
# does not answer.
runtime_others() {
  if [ "$1" = containerd ]; then
    for runtime_folder in /run/containerd/io.containerd.runtime.v2.task/*/*; do
      case $runtime_folder in
        */moby/* | */\*) ;;
        *) echo "the container ${runtime_folder#/run/containerd/io.containerd.runtime.v2.task/}" ;;
      esac
    done
    return
  fi
  if ! systemctl -q is-active docker; then
    # Another program has stopped it: then it is enabled still.
    if systemctl -q is-enabled docker 2>/dev/null; then echo 'what it does not tell while it is stopped'; fi
    return
  fi
  runtime_list=$(timeout -k 1 60 docker ps -a --format '{{if not (.Label "io.kubernetes.docker.type")}}the container {{.Names}}{{end}}') || return
  runtime_volumes=$(timeout -k 1 60 docker volume ls --format 'the volume {{.Name}}') || return
  runtime_networks=$(timeout -k 1 60 docker network ls --filter type=custom --format 'the network {{.Name}}') || return
  # Volumes without a name belong to containers.
  printf '%s\n' "$runtime_list" "$runtime_volumes" "$runtime_networks" | grep -vE '^$|^the volume [0-9a-f]{64}$' || true
}

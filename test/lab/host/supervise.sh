#!/bin/bash
# Keeps one host running: boots it, and boots it again when it rebooted. Ends when it was switched off or lost power.
# usage: supervise.sh HOST_DIR (with host.env, power, and copies of the scripts beside this one)
main() {
  cd "$1" || exit 1
  . ./host.env
  exec 9> supervisor.lock
  flock -n 9 || exit 0
  echo "$$ $(cut -d' ' -f22 /proc/$$/stat)" > supervisor.pid
  while [ "$(cat power)" = on ]; do
    echo "--- boot $(date -u +%FT%TZ)"
    if [ -e "$BASE/vmlinuz" ]; then
      { [ -e disk/root.img ] || { scripts/prepare.sh "$PWD" && scripts/disk.sh "$PWD"; }; } && boot_machine || exit 1
    else
      scripts/prepare.sh "$PWD" && scripts/network.sh "$PWD" && boot || exit 1
    fi
    [ $code = 133 ] || break # nspawn's way to say that the host rebooted
  done
  echo "--- off ($code)"
}

boot() {
  scripts/cgroup.sh remove "$NAME"
  local procs; procs=$(scripts/cgroup.sh make "$NAME") || return 1
  # cgroup v1 inside where the machine has it; a writable /sys and /proc/sys as on a server.
  export SYSTEMD_NSPAWN_API_VFS_WRITABLE=yes
  [ -e /sys/fs/cgroup/cgroup.controllers ] || export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=0
  (
    for p in $procs; do echo $BASHPID > "$p"; done
    exec unshare -C systemd-nspawn --quiet --register=no --keep-unit --directory="$PWD/root" --machine="$NAME" --boot \
      --capability=all --network-namespace-path="/run/netns/kblab-$NAME" --link-journal=no --timezone=off --resolv-conf=off --setenv=TERM=dumb \
      --system-call-filter='@known bpf keyctl add_key request_key perf_event_open' --bind=/dev/kmsg \
      --bind="$PWD/disk/containerd:/var/lib/containerd" --bind="$PWD/disk/containers:/var/lib/containers" \
      --bind="$PWD/disk/kubelet:/var/lib/kubelet" --bind="$PWD/disk/etcd:/var/lib/etcd"
  ) 9>&- < /dev/null &
  echo "$! $(cut -d' ' -f22 "/proc/$!/stat")" > nspawn.pid
  wait $!
  code=$?
  rm -f nspawn.pid
}

# A host that is a virtual machine: nothing but QEMU runs on this machine. Its reboots do not end it.
boot_machine() {
  scripts/cgroup.sh remove "$NAME"
  local procs; procs=$(scripts/cgroup.sh make "$NAME") || return 1
  (
    for p in $procs; do echo $BASHPID > "$p"; done
    exec scripts/virtual-machine.sh "$PWD"
  ) 9>&- < /dev/null &
  echo "$! $(cut -d' ' -f22 "/proc/$!/stat")" > machine.pid
  wait $!
  code=$?
  rm -f machine.pid
}

# One statement, read whole before it runs.
main "$@"; exit

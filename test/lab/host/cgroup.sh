#!/bin/bash
# The host's own cgroup subtree. usage: cgroup.sh make|remove NAME ; prints the cgroup.procs files to join.
set -eu
command=$1 leaf=kbuild-lab/$2 root=/sys/fs/cgroup
# One at a time: the folder that all hosts share goes with the last of them, not under the feet of the next.
exec 8< $root
flock 8
if [ -e $root/cgroup.controllers ]; then groups=$root; else groups=$(for c in cpu cpuacct cpuset blkio memory devices freezer pids systemd; do [ -d $root/$c ] && echo $root/$c; done); fi
for g in $groups; do
  if [ "$command" = remove ]; then
    # Thrice: a cgroup is busy until the kernel has buried its last process.
    for _ in 1 2 3; do [ ! -d "$g/$leaf" ] || find "$g/$leaf" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.2; done
    rmdir "$g/kbuild-lab" 2>/dev/null || true
    continue
  fi
  mkdir -p "$g/$leaf"
  # cgroup v1: a new cpuset is empty and nothing can join it.
  if [ -e "$g/cpuset.cpus" ]; then
    for d in "$g/kbuild-lab" "$g/$leaf"; do
      cat "$g/cpuset.cpus" > "$d/cpuset.cpus"
      cat "$g/cpuset.mems" > "$d/cpuset.mems"
      echo 1 > "$d/cgroup.clone_children"
    done
  fi
  [ ! -e "$g/$leaf/memory.use_hierarchy" ] || echo 1 > "$g/$leaf/memory.use_hierarchy" 2>/dev/null || true
  echo "$g/$leaf/cgroup.procs"
done

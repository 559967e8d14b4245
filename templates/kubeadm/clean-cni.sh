# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: kubeadm/mounts.sh network/clean-bpf.sh
# Removes the leftovers of a network plugin on a host. INTERFACES, ROUTES (to nowhere) and FILES: one a line. PROGRAMS:
# not empty where the plugin works by BPF. Folders of all plugins go only when they are empty.
if [ -n "$PROGRAMS" ]; then clean_bpf; fi
for interface in $INTERFACES; do ip link delete "$interface" 2>/dev/null || ! ip link show "$interface" >/dev/null 2>&1; done
for route in $ROUTES; do ip route delete blackhole "$route"; done
printf '%s\n' "$FILES" | {
  set --
  while read -r file; do if [ -n "$file" ]; then set -- "$@" "$file"; fi; done
  remove_all "$@"
}
rmdir /var/lib/cni/cache/results /var/lib/cni/cache /var/lib/cni/results /var/lib/cni/networks /var/lib/cni 2>/dev/null || true

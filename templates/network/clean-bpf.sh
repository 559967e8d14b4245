# shellcheck shell=sh
# Functions that take Cilium out of a kernel whose agent has ended; they stand before such a script. The order is that
# of `cilium-dbg post-uninstall-cleanup`: filters of tc before the maps that they read, without which they drop packets.
# Programs that are attached by links end with the files of bpffs, which the caller removes.

# Removes tc's filters on all interfaces, this host's own ones among them.
clean_filters() {
  if ! command -v tc >/dev/null; then
    echo 'filters of Cilium at the interfaces stay until the host restarts: it has no tc' >&2
    return 0
  fi
  for device in /sys/class/net/*; do
    device=${device##*/}
    for side in ingress egress; do
      tc filter show dev "$device" "$side" 2>/dev/null |
        awk '/ bpf .* cil_/ { for (i = 1; i < NF; i++) if ($i == "pref") print $(i + 1) }' | sort -u |
        while read -r pref; do tc filter delete dev "$device" "$side" pref "$pref" || true; done
    done
  done
}

# Removes rules for marked packets with their tables (pkg/datapath/linux/linux_defaults: IPsec, to and from the proxy),
# and brings the rule for local addresses back to its place. A rule with another table is not Cilium's.
clean_rules() {
  for family in -4 -6; do
    if ip $family rule show pref 100 2>/dev/null | grep -q 'from all lookup local'; then
      ip $family rule show pref 0 | grep -q 'from all lookup local' || ip $family rule add pref 0 from all lookup local
      ip $family rule delete pref 100 from all lookup local
    fi
    ip $family rule show 2>/dev/null |
      sed -nE 's,^([0-9]+):.* fwmark 0x[0-9a-f]+/0xf00 .*lookup (200|2004|2005)( .*)?$,\1 \2,p' |
      while read -r pref table; do
        ip $family rule delete pref "$pref" lookup "$table"
        ip $family route flush table "$table" 2>/dev/null || true
      done
  done
}

clean_bpf() {
  clean_filters
  clean_rules
  # Under the folder that is removed; other mounts of the same hierarchy stay.
  while grep -q ' /run/cilium/cgroupv2 cgroup2 ' /proc/self/mounts; do umount /run/cilium/cgroupv2 || return; done
  # Configurations of other networks that the agent has renamed.
  for file in /etc/cni/net.d/*.cilium_bak; do if [ -e "$file" ]; then mv -- "$file" "${file%.cilium_bak}"; fi; done
}

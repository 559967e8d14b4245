# shellcheck shell=sh
# Prints overlay, br_netfilter and nf_conntrack with their state, by what each provides: a kernel may have them built
# in, which lsmod does not show.
found() { if modprobe -n -q "$1" 2>/dev/null; then echo "$1 loadable"; else echo "$1 missing"; fi; }
overlay=
while read -r one other; do
  case " $one $other " in *' overlay '*) overlay=yes ;; esac
done </proc/filesystems
if [ -n "$overlay" ]; then echo overlay working; else found overlay; fi
if [ -e /proc/sys/net/bridge/bridge-nf-call-iptables ]; then echo br_netfilter working; else found br_netfilter; fi
if [ -e /proc/sys/net/netfilter/nf_conntrack_max ]; then echo nf_conntrack working; else found nf_conntrack; fi

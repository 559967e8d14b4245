# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Removes chains of kube-proxy, the kubelet and CNI plugins, and the rules that lead to them, one table at a time and
# atomically. Rules of others are not read back and written again: they keep their place and their counters. CHAINS: how
# the names of the chains begin, alternatives of a regular expression. TABLES: names of their tables in nftables, one a
# line.
clean() {
  save=$1-save
  restore=$1-restore
  command -v "$save" >/dev/null || return 0
  rules=$("$save" 2>/dev/null) || return 0
  changes=$(printf '%s\n' "$rules" | awk -v chains="$CHAINS" '
    BEGIN { own = "^(" chains ")"; leads = " -[jg] (" chains ")" }
    /^\*/ { table = $0; n = 0; jumps = ""; next }
    /^:/ && substr($1, 2) ~ own { chain[++n] = substr($1, 2); next }
    # Calico and NodeLocal DNSCache mark their rules in chains of others by comments: not all lead to their own chains.
    /^-A / && $2 !~ own && ($0 ~ leads || / --comment "(cali:|NodeLocal DNS Cache: )/) { sub(/^-A/, "-D"); jumps = jumps $0 "\n"; next }
    /^COMMIT/ && (n > 0 || jumps != "") {
      printf "%s\n%s", table, jumps
      for (i = 1; i <= n; i++) print "-F " chain[i]
      for (i = 1; i <= n; i++) print "-X " chain[i]
      print "COMMIT"
    }')
  if [ -n "$changes" ]; then printf '%s\n' "$changes" | "$restore" --noflush; fi
}

# A host may have both kinds; the plain names stand for one of them.
kinds='iptables ip6tables'
for kind in iptables-nft ip6tables-nft iptables-legacy ip6tables-legacy; do
  if command -v "$kind-save" >/dev/null; then kinds="$kinds $kind"; fi
done
for kind in $kinds; do clean "$kind"; done

if command -v nft >/dev/null; then
  for table in $TABLES; do
    for family in ip ip6 arp; do
      if nft list table $family "$table" >/dev/null 2>&1; then nft delete table $family "$table"; fi
    done
  done
fi

# kube-proxy's IPVS mode: virtual servers at the addresses of its own interface, NodePorts (of the default range) at the
# addresses of the host, and its sets. Virtual servers of others stay.
has() { printf '%s\n' "$1" | grep -qxF "$2"; }
addresses_of() { ip -o addr show "$@" | awk '{ sub(/\/.*/, "", $4); print $4 }'; }
if ip link show kube-ipvs0 >/dev/null 2>&1; then
  if command -v ipvsadm >/dev/null; then
    services=$(addresses_of dev kube-ipvs0)
    own=$(addresses_of)
    ipvsadm -Sn | awk '$1 == "-A" { print $2, $3 }' | while read -r protocol server; do
      address=$(echo "${server%:*}" | tr -d '[]')
      port=${server##*:}
      if has "$services" "$address" || { has "$own" "$address" && [ "$port" -ge 30000 ] && [ "$port" -le 32767 ]; }; then
        ipvsadm -D "$protocol" "$server"
      fi
    done
  else
    echo 'virtual servers of IPVS at NodePorts stay until the host restarts: it has no ipvsadm' >&2
  fi
  ip link delete kube-ipvs0
fi
if command -v ipset >/dev/null; then
  for set in $(ipset list -n 2>/dev/null | grep -E '^(KUBE-|cali[46]0|cilium_node_set_)' || true); do ipset destroy "$set" || true; done
fi

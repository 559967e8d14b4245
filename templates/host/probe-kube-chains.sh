# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the chains of kube-proxy, the kubelet and network plugins in the packet filters of both families, and their
# tables in nftables. CHAINS: how the names of chains begin, alternatives of a regular expression. TABLES: names of
# tables, one a line.
for save in iptables-save ip6tables-save; do
  if command -v $save >/dev/null; then $save 2>/dev/null | grep -E "^:($CHAINS)" || true; fi
done
if command -v nft >/dev/null; then
  nft list tables 2>/dev/null | while read -r _ family table; do
    case $family in ip | ip6) if printf '%s\n' "$TABLES" | grep -qxF -e "$table"; then echo "nft $family $table"; fi ;; esac
  done
fi

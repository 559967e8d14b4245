# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the chains of kube-proxy, the kubelet and network plugins in the packet filters of both families, and their
# tables in nftables. CHAINS: how the names of chains begin, alternatives of a regular expression. TABLES: names of
# tables, one a line.
for save in iptables-save ip6tables-save; do
  if command -v $save >/dev/null; then $save 2>/dev/null | grep -E "^:($CHAINS)" || true; fi
done
if command -v nft >/dev/null; then
  tables=$(nft list tables 2>/dev/null) || :
  IFS='
'
  set -f
  for table in $tables; do
    for name in $TABLES; do
      case $table in "table ip $name" | "table ip6 $name") echo "nft ${table#table }" ;; esac
    done
  done
fi

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: host/nft-chains.sh
# Prints the chains of kube-proxy, the kubelet and network plugins in the packet filters of both families, and their
# tables in nftables. CHAINS: how the names of chains begin, with | between them. TABLES: names of tables, one a line.
families=' '
if command -v iptables-save >/dev/null; then families=' ip '; fi
if command -v ip6tables-save >/dev/null; then families="${families}ip6 "; fi
# The kernel names tables there that are not in nftables.
legacy=
for names in /proc/net/ip_tables_names /proc/net/ip6_tables_names; do
  if [ -e $names ] && read -r name <$names; then legacy=yes; fi
done

# $1: a chain of the table $family $table.
kube_chain() {
  case $families in *" $family "*) ;; *) return 0 ;; esac
  # Those of iptables.
  case $table in filter | nat | mangle | raw | security) ;; *) return 0 ;; esac
  for prefix in $CHAINS; do
    case $1 in "$prefix"*) printf ':%s\n' "$1" ;; esac
  done
}

found=
if command -v nft >/dev/null && list_chains; then
  found=yes
  lines='
'
  set -f
  IFS=$lines
  for line in $nft_chains; do
    case $line in
      'table '*)
        line=${line% \{}
        table=${line##* }
        family=${line#table }
        family=${family%% *}
        for name in $TABLES; do
          case $line in "table ip $name" | "table ip6 $name" | "table arp $name") echo "nft ${line#table }" ;; esac
        done
        ;;
      *[[:space:]]'chain '*)
        line=${line#*chain }
        IFS='|'
        kube_chain "${line% \{}"
        IFS=$lines
        ;;
    esac
  done
fi
# They print all rules of all Services to tell the names of chains.
if [ -z "$found" ] || [ -n "$legacy" ]; then
  for save in iptables-save ip6tables-save; do
    if command -v $save >/dev/null; then $save 2>/dev/null | grep -E "^:($CHAINS)" || true; fi
  done
fi

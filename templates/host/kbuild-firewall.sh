# shellcheck shell=sh
# Opens in chains of the packet filter that drop what hosts and pods of the cluster need; with `stop` it closes that again.
# Each line of the rules file: FAMILY TABLE CHAIN FROM TO PROTOCOL PORTS, `-` for any, ports with commas between them;
# VRRP has none.
# kbuild-firewall.service runs it after what loads the chains; what is ours is called kbuild.
set -eu
commands=$(nft -a list ruleset 2>/dev/null | awk '
  $1 == "table" { table = $2 " " $3 }
  $1 == "chain" { chain = $2 }
  / comment "kbuild" # handle [0-9]+$/ { sub(/.* handle /, ""); print "delete rule", table, chain, "handle", $0 }')
if command -v iptables >/dev/null; then
  iptables -w -S INPUT 2>/dev/null | sed -n 's/^-A \(.*--comment kbuild .*\)$/\1/p' | while read -r rule; do
    # shellcheck disable=SC2086  # the words of the rule
    iptables -w -D $rule
  done
fi
# iptables cannot read all that nft writes into its chains.
by_iptables() {
  if [ "$2" = vrrp ]; then
    iptables -w -I INPUT -s "$1" -p 112 -m comment --comment kbuild -j ACCEPT
    return
  fi
  echo "$3" | tr , '\n' | while read -r port; do
    iptables -w -I INPUT -s "$1" -p "$2" --dport "$port" -m comment --comment kbuild -j ACCEPT
  done
}
if [ "${1-}" != stop ]; then
  while read -r family table chain from to protocol ports; do
    if [ "$family" = '#' ] || ! nft list chain "$family" "$table" "$chain" >/dev/null 2>&1; then continue; fi
    if [ "$family $table $chain" = 'ip filter INPUT' ] && command -v iptables >/dev/null; then
      by_iptables "$from" "$protocol" "$ports"
      continue
    fi
    rule=
    if [ "$from" != - ]; then rule="ip saddr $from "; fi
    if [ "$to" != - ]; then rule="${rule}ip daddr $to "; fi
    case $protocol in
      -) ;;
      vrrp) rule="${rule}ip protocol 112 " ;;
      *) rule="$rule$protocol dport { $ports } " ;;
    esac
    commands="$commands
insert rule $family $table $chain ${rule}accept comment \"kbuild\""
  done </etc/kbuild-firewall.rules
fi
printf '%s\n' "$commands" | nft -f -

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
for program in iptables ip6tables; do
  if ! command -v "$program" >/dev/null; then continue; fi
  "$program" -w -S INPUT 2>/dev/null | sed -n 's/^-A \(.*--comment kbuild .*\)$/\1/p' | while read -r rule; do
    # shellcheck disable=SC2086  # the words of the rule
    "$program" -w -D $rule
  done
done
# is_ipv6 ADDRESS
is_ipv6() { case $1 in *:*) ;; *) return 1 ;; esac; }
# iptables cannot read all that nft writes into its chains.
by_iptables() {
  program=iptables
  if is_ipv6 "$1"; then program=ip6tables; fi
  if [ "$2" = vrrp ]; then
    "$program" -w -I INPUT -s "$1" -p 112 -m comment --comment kbuild -j ACCEPT
    return
  fi
  echo "$3" | tr , '\n' | while read -r port; do
    "$program" -w -I INPUT -s "$1" -p "$2" --dport "$port" -m comment --comment kbuild -j ACCEPT
  done
}
if [ "${1-}" != stop ]; then
  while read -r family table chain from to protocol ports; do
    if [ "$family" = '#' ] || ! nft list chain "$family" "$table" "$chain" >/dev/null 2>&1; then continue; fi
    case "$family $table $chain" in
      'ip filter INPUT' | 'ip6 filter INPUT')
        if command -v iptables >/dev/null; then
          by_iptables "$from" "$protocol" "$ports"
          continue
        fi
        ;;
    esac
    rule=
    ip=ip
    if is_ipv6 "$from" || is_ipv6 "$to"; then ip=ip6; fi
    if [ "$from" != - ]; then rule="$ip saddr $from "; fi
    if [ "$to" != - ]; then rule="$rule$ip daddr $to "; fi
    case $protocol in
      -) ;;
      vrrp) rule="${rule}meta l4proto 112 " ;;
      *) rule="$rule$protocol dport { $ports } " ;;
    esac
    commands="$commands
insert rule $family $table $chain ${rule}accept comment \"kbuild\""
  done </etc/kbuild-firewall.rules
fi
printf '%s\n' "$commands" | nft -f -

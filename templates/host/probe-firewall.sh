# shellcheck shell=sh
# uses: host/is-active.sh host/nft-chains.sh
# Prints the name of the host's own firewall (ufw, firewalld, nftables or none) and its rules. The rules of ufw and
# firewalld are read through their own programs.
if [ -e /etc/ufw/ufw.conf ] && grep -qs '^ENABLED=yes' /etc/ufw/ufw.conf && command -v ufw >/dev/null; then
  echo ufw
  ufw status
  iptables -S ufw-before-input 2>/dev/null | grep -E -- '-p (vrrp|112) -j ACCEPT' || true
elif is_active firewalld; then
  echo firewalld
  sed -n 's/^DefaultZone=/default /p' /etc/firewalld/firewalld.conf
  firewall-cmd --list-all-zones
  echo policies
  firewall-cmd --list-all-policies 2>/dev/null || true
elif command -v nft >/dev/null; then
  echo nftables
  list_chains || :
  lines='
'
  IFS=$lines
  set -f
  programs=
  for line in $nft_chains; do
    case $line in
      'table '*)
        table=${line#table }
        table=${table% \{}
        ;;
      *[[:space:]]'chain '*)
        chain=${line#*chain }
        chain=${chain% \{}
        ;;
      *[[:space:]]'type '*'hook input '* | *[[:space:]]'type '*'hook forward '*)
        # Not the host's own chain: flannel and kube-proxy write rules to it.
        case "$table $chain" in
          'ip filter FORWARD' | 'ip6 filter FORWARD') continue ;;
        esac
        IFS=' '
        # Several in one call: nft finds the first table only.
        rules=$(nft list chain $table $chain 2>/dev/null)
        IFS=$lines
        printf '%s\n' "$rules"
        case "$table $chain $rules" in
          'ip filter INPUT '*drop* | 'ip filter INPUT '*reject*) programs="$programs iptables" ;;
          'ip6 filter INPUT '*drop* | 'ip6 filter INPUT '*reject*) programs="$programs ip6tables" ;;
        esac
        ;;
    esac
  done
  # nft does not show the comments of iptables, which matter where the chain stops packets.
  IFS=' '
  for program in $programs; do
    if ! command -v "$program" >/dev/null; then continue; fi
    rules=$("$program" -S INPUT 2>/dev/null) || :
    IFS=$lines
    for rule in $rules; do
      case $rule in *'--comment kbuild '*) printf 'ours %s\n' "$rule" ;; esac
    done
    IFS=' '
  done
else echo none; fi

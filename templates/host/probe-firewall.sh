# shellcheck shell=sh
# Prints the name of the host's own firewall (ufw, firewalld, nftables or none) and its rules. The rules of ufw and
# firewalld are read through their own programs.
if grep -qs '^ENABLED=yes' /etc/ufw/ufw.conf && command -v ufw >/dev/null; then
  echo ufw
  ufw status
  iptables -S ufw-before-input 2>/dev/null | grep -E -- '-p (vrrp|112) -j ACCEPT' || true
elif systemctl -q is-active firewalld 2>/dev/null; then
  echo firewalld
  sed -n 's/^DefaultZone=/default /p' /etc/firewalld/firewalld.conf
  firewall-cmd --list-all-zones
  echo policies
  firewall-cmd --list-all-policies 2>/dev/null || true
elif command -v nft >/dev/null; then
  echo nftables
  nft list chains 2>/dev/null | while read -r word one two rest; do
    case $word in
      table) table="$one $two" ;;
      chain) chain=$one ;;
      type)
        case "$one $two $rest" in
          *'hook input '* | *'hook forward '*)
            # Not the host's own chain: flannel and kube-proxy write rules to it.
            if [ "$table $chain" = 'ip filter FORWARD' ]; then continue; fi
            echo "chain $table $chain"
            nft list chain $table $chain 2>/dev/null
            if [ "$table $chain" = 'ip filter INPUT' ] && command -v iptables >/dev/null; then
              iptables -S INPUT 2>/dev/null | sed -n '/--comment kbuild /s/^/ours /p'
            fi
            ;;
        esac
        ;;
    esac
  done
else echo none; fi

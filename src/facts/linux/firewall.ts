import { sh } from '../../shell/sh.ts';
import { probe } from '../probe.ts';
import { firewalld } from './firewall-firewalld.ts';
import { nftables } from './firewall-nftables.ts';
import type { Firewall } from './firewall-rules.ts';
import { ufw } from './firewall-ufw.ts';

/**
 * The host's own firewall and what it lets in and through; empty where nothing drops. Chains of ufw and firewalld are read
 * through their own programs. Of forwarding the chain of iptables is left out: flannel and kube-proxy write into it.
 */
export const firewall = probe(
  sh`if grep -qs '^ENABLED=yes' /etc/ufw/ufw.conf && command -v ufw >/dev/null; then
       echo ufw; ufw status
       iptables -S ufw-before-input 2>/dev/null | grep -E -- '-p (vrrp|112) -j ACCEPT' || true
     elif systemctl -q is-active firewalld 2>/dev/null; then
       echo firewalld; sed -n 's/^DefaultZone=/default /p' /etc/firewalld/firewalld.conf; firewall-cmd --list-all-zones
       echo policies; firewall-cmd --list-all-policies 2>/dev/null || true
     elif command -v nft >/dev/null; then
       echo nftables
       nft list chains 2>/dev/null | while read -r word one two rest; do
         case $word in
           table) table="$one $two" ;;
           chain) chain=$one ;;
           type)
             case "$one $two $rest" in
               *'hook input '* | *'hook forward '*)
                 if [ "$table $chain" = 'ip filter FORWARD' ]; then continue; fi
                 echo "chain $table $chain"; nft list chain $table $chain 2>/dev/null
                 if [ "$table $chain" = 'ip filter INPUT' ] && command -v iptables >/dev/null; then
                   iptables -S INPUT 2>/dev/null | sed -n '/--comment kbuild /s/^/ours /p'
                 fi ;;
             esac ;;
         esac
       done
     else echo none; fi`,
  (out): readonly Firewall[] => {
    const [kind, ...rest] = out.split('\n');
    const text = rest.join('\n');
    if (kind === 'ufw') return ufw(text);
    if (kind === 'firewalld') return firewalld(text);
    if (kind === 'nftables') return nftables(text);
    if (kind === 'none') return [];
    throw new Error(`unexpected output: ${out}`);
  },
);

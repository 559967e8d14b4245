# shellcheck shell=sh
# Prints the chains of kube-proxy, the kubelet and network plugins in the packet filters of both families, and the tables of
# kube-proxy's nftables mode. CHAINS: how the names of chains begin, alternatives of a regular expression.
for save in iptables-save ip6tables-save; do
  if command -v $save >/dev/null; then $save 2>/dev/null | grep -E "^:($CHAINS)" || true; fi
done
if command -v nft >/dev/null; then
  nft list tables 2>/dev/null | sed -n 's/^table \(ip6*\) kube-proxy$/nft \1 kube-proxy/p'
fi

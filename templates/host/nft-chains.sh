# shellcheck shell=sh disable=SC2034  # the scripts that follow use these
# A function for probes that read the packet filter.

# Sets nft_chains to the chains of all tables of nftables without their rules: those of iptables-nft are among them. nft
# is called once for all probes that run in one shell. Fails if it cannot tell them.
list_chains() {
  if [ -z "${nft_status-}" ]; then
    nft_status=0
    nft_chains=$(nft list chains 2>/dev/null) || nft_status=$?
  fi
  return "$nft_status"
}

#!/bin/bash
# A fresh network namespace with the host's interfaces: what a boot finds on a real machine. usage: network.sh HOST_DIR
set -eu
cd "$1"
. ./host.env
ns=kblab-$NAME
ip netns del "$ns" 2>/dev/null || true
for n in 0 1; do ip link del "kbh${OCTET}n$n" 2>/dev/null || true; done
ip netns add "$ns"
nic() { # N ADDRESS
  port=kbh${OCTET}n$1
  ip link add "$port" type veth peer name "eth$1" address "$(printf '02:4b:4c:42:%02x:%02x' "$1" "$OCTET")" netns "$ns"
  ip -n "$ns" addr add "$2/24" dev "eth$1"
  ip -n "$ns" link set "eth$1" up
  ip link set "$port" master "kblab$1"
  [ -e partitioned ] || ip link set "$port" up
}
ip -n "$ns" link set lo up
nic 0 "$ADDRESS"
[ -z "$INTERNAL" ] || nic 1 "$INTERNAL"
ip -n "$ns" route add default via "$GATEWAY" dev eth0

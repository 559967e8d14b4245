# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the routes of the main table (IPv4), then the ways to ADDRESSES, one a line.
ip -o -4 route show table main
echo ---
for address in $ADDRESSES; do echo "route get $address"; done | ip -o -4 -force -batch - 2>/dev/null || true

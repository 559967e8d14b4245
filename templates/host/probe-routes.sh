# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the routes of the main table (IPv4), then the ways to ADDRESSES, one a line.
ip -o -4 route show table main
echo ---
set -- $ADDRESSES
case $# in
  0) ;;
  # Less than a pipe takes.
  1) ip -o -4 route get "$1" 2>/dev/null || true ;;
  *) for address in "$@"; do echo "route get $address"; done | ip -o -4 -force -batch - 2>/dev/null || true ;;
esac

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the routes of the main table of FAMILIES (4, 6; one a line), then the ways to ADDRESSES, one a line. The
# default route of IPv6 is ::/0; one that a router has advertised ends with `accept_ra VALUE` of its interface.
for family in $FAMILIES; do
  if [ "$family" = 4 ]; then
    ip -o -4 route show table main
    continue
  fi
  # A kernel without IPv6 has no such routes.
  ip -o -6 route show table main 2>/dev/null | while read -r destination words; do
    if [ "$destination" = default ]; then destination=::/0; fi
    case "$destination $words" in
      '::/0 '*' proto ra '*)
        device=${words#*dev }
        read -r value <"/proc/sys/net/ipv6/conf/${device%% *}/accept_ra" || value=unknown
        words="$words accept_ra $value"
        ;;
    esac
    echo "$destination $words"
  done
done
echo ---
set -- $ADDRESSES
case $# in
  0) ;;
  # Less than a pipe takes.
  1) ip -o route get "$1" 2>/dev/null || true ;;
  *) for address in "$@"; do echo "route get $address"; done | ip -o -force -batch - 2>/dev/null || true ;;
esac

# Connects to TARGETS (`tcp ADDRESS PORT NAME` or `udp ADDRESS PORT NAME`, one a line), forty at once. Prints for each
# of tcp: its address and port, the status (124: no answer within 10 s) and bash's error. By udp it sends `small NAME`,
# and `large NAME` in a datagram that fills the MTU of the interface; then it prints `mtu`, the address, that MTU, and
# the smaller one that a router on the way reported, if one did.
connect() {
  s=0
  said=$(timeout 10 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>&1) || s=$?
  printf '%s %s %s %s\n' "$1" "$2" "$s" "$(printf %s "$said" | tr '\n' ' ')"
}
send() {
  device=$(ip -o route get "$1" 2>/dev/null | sed -n 's/.* dev \([^ ]*\).*/\1/p')
  mtu=$(ip -o link show dev "$device" 2>/dev/null | sed -n 's/.* mtu \([0-9]*\).*/\1/p')
  if [ -z "$mtu" ]; then return 0; fi
  # Three times: a datagram may get lost. Headers of IP and UDP take 28 bytes, of IPv6 48; the line ends with a newline.
  case $1 in
    *:*) room=$((mtu - 49)) ;;
    *) room=$((mtu - 29)) ;;
  esac
  bash -c 'for i in 1 2 3; do
      echo "small $2" >"/dev/udp/$0/$1"
      exec 3>"/dev/udp/$0/$1"
      printf "%-*s\n" "$3" "large $2" | dd bs=65536 iflag=fullblock status=none >&3
    done' "$1" "$2" "$3" "$room" 2>/dev/null || :
  printf 'mtu %s %s %s\n' "$1" "$mtu" "$(ip -o route get "$1" 2>/dev/null | sed -n 's/.* mtu \([0-9]*\).*/\1/p')"
}
count=0
while read -r protocol address port name; do
  if [ "$protocol" = tcp ]; then
    connect "$address" "$port" &
  elif [ "$protocol" = udp ]; then
    send "$address" "$port" "$name"
  fi
  count=$((count + 1))
  if [ $((count % 40)) = 0 ]; then wait; fi
done <<END
$TARGETS
END
wait

# Connects to TARGETS (`tcp ADDRESS PORT` or `udp ADDRESS PORT`, one a line), forty at once. Prints for each of tcp:
# its address and port, the status (124: nobody answered within 10 s) and what bash said. By udp it sends NAME.
connect() {
  s=0
  said=$(timeout 10 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>&1) || s=$?
  printf '%s %s %s %s\n' "$1" "$2" "$s" "$(printf %s "$said" | tr '\n' ' ')"
}
count=0
while read -r protocol address port; do
  if [ "$protocol" = tcp ]; then
    connect "$address" "$port" &
  elif [ "$protocol" = udp ]; then
    # Three times: a datagram may get lost.
    bash -c 'for i in 1 2 3; do echo "$2" >"/dev/udp/$0/$1"; done' "$address" "$port" "$NAME" 2>/dev/null || :
  fi
  count=$((count + 1))
  if [ $((count % 40)) = 0 ]; then wait; fi
done <<END
$TARGETS
END
wait

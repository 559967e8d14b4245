# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Takes rules out of ufw and puts others before all of its own. CLOSE, OPEN: `FROM PROTOCOL PORTS`, one a line.
echo "$CLOSE" | while read -r from protocol ports; do
  if [ -n "$from" ]; then ufw delete allow proto "$protocol" from "$from" to any port "$ports"; fi
done
echo "$OPEN" | while read -r from protocol ports; do
  if [ -n "$from" ]; then ufw prepend allow proto "$protocol" from "$from" to any port "$ports" comment kbuild; fi
done

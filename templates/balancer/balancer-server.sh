# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: balancer/haproxy-socket.sh
# Tells the haproxy of this host whether to send new connections to the API server NAME. STATE: drain (no new
# connections; open ones continue) or ready. Never drains the last API server that is ready. SOCKET: haproxy's control
# socket.
if [ "$STATE" = drain ]; then
  servers=$(haproxy_servers)
  # 2: it runs. 0: nothing administrative keeps connections away from it.
  others=$(printf '%s\n' "$servers" | awk -v name="$NAME" '$1 != name && $2 == 2 && $3 == 0' | wc -l)
  if [ "$others" = 0 ]; then
    echo "haproxy has no other API server that is ready, so $NAME stays" >&2
    exit 1
  fi
fi
answer=$(haproxy_says "set server api-servers/$NAME state $STATE")
if [ -n "$(printf %s "$answer" | tr -d '[:space:]')" ]; then
  echo "haproxy answers: $answer" >&2
  exit 1
fi

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: balancer/haproxy-socket.sh host/is-active.sh
# Prints the state of the haproxy of this host. CONFIG: its configuration; HEADER: the first words of one by kbuild;
# SOCKET: its control socket. Prints `none` without a running haproxy of kbuild's, `uncontrolled` if kbuild cannot
# control it, `silent` if it does not answer, else the lines of haproxy_servers.
state=none
if [ -e "$CONFIG" ] && grep -qs "^$HEADER" "$CONFIG"; then
  if is_active haproxy; then state=runs; fi
fi
if [ $state = runs ] && { ! grep -qF "stats socket $SOCKET " "$CONFIG" || ! command -v socat >/dev/null; }; then
  state=uncontrolled
fi
if [ $state != runs ]; then echo $state
elif servers=$(haproxy_servers); then printf '%s\n' "$servers"; else echo silent; fi

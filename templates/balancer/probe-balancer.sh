# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: balancer/haproxy-socket.sh
# What the haproxy of this host leads to. CONFIG: its configuration; HEADER: the first words of one by kbuild; SOCKET:
# its control socket. Prints `none` without a running haproxy of kbuild's, `uncontrolled` if kbuild cannot control it,
# `silent` if it does not answer, else the lines of haproxy_servers.
if ! grep -qs "^$HEADER" "$CONFIG"; then
  echo none
  exit 0
fi
case $(systemctl is-active haproxy || :) in
  active | reloading) ;;
  *)
    echo none
    exit 0
    ;;
esac
if ! grep -qF "stats socket $SOCKET " "$CONFIG" || ! command -v socat >/dev/null; then
  echo uncontrolled
  exit 0
fi
if servers=$(haproxy_servers); then printf '%s\n' "$servers"; else echo silent; fi

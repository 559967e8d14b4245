# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Functions for the control socket of kbuild's haproxy. SOCKET: its path.

# Sends one command to haproxy and prints the answer.
haproxy_says() { printf '%s\n' "$1" | timeout 5 socat -t 5 - "UNIX-CONNECT:$SOCKET"; }

# `NAME OPERATIONAL ADMINISTRATIVE` of each API server, one a line (HAProxy management guide, "show servers state").
haproxy_servers() {
  answer=$(haproxy_says 'show servers state api-servers')
  # The version of the format, then the names of the columns.
  if [ "$(printf '%s\n' "$answer" | head -n 1)" != 1 ]; then
    echo "haproxy answers: $(printf '%s\n' "$answer" | head -n 1)" >&2
    return 1
  fi
  printf '%s\n' "$answer" | awk '/^[0-9]+ api-servers / { print $4, $6, $7 }'
}

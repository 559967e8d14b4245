# shellcheck shell=sh
# Runs probes in this shell's children, one after the other, as probes.sh says. Parameters: seconds after which it
# leaves the others to the next batch, so that each has time enough; then name, command, name, command and so on.
export LC_ALL=C
read -r nonce
read -r now _ </proc/uptime
last=$((${now%%.*} + $1))
shift
while [ $# -gt 0 ]; do
  printf '%s\n' "$nonce:begin:$1"
  printf '%s\n' "$nonce:begin:$1" >&2
  # No condition around it: in one, `set -e` would mean nothing.
  (
    set -eu
    eval "$2"
  ) </dev/null 3>&-
  status=$?
  printf '\n%s\n' "$nonce:end:$1:$status"
  printf '\n%s\n' "$nonce:end:$1:$status" >&2
  printf . >&3
  shift 2
  read -r now _ </proc/uptime
  if [ "${now%%.*}" -ge "$last" ]; then exit 0; fi
done

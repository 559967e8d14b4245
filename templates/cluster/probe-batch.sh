# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Runs probes one after the other, as probes.sh says: a probe that is `here` in this shell, which takes no process, any
# other in a child of it. A probe that is `here` may set IFS, `set -f`, variables and functions, but not those that
# begin with batch_. If it fails, it ends this shell. Parameters: seconds after which this shell leaves the others to
# the next batch, so that each has time enough; then name, `here` or `apart`, command, and so on. BATCH_NONCE: frames
# the outputs.
export LC_ALL=C
batch_nonce=$BATCH_NONCE
unset BATCH_NONCE
batch_ifs=$IFS
read -r batch_now _ </proc/uptime
batch_last=$((${batch_now%%.*} + $1))
shift
batch_here() { eval "$1"; }
set -eu
while [ $# -gt 0 ]; do
  printf '%s\n' "$batch_nonce:begin:$1"
  printf '%s\n' "$batch_nonce:begin:$1" >&2
  # No condition around it: in one, `set -e` would mean nothing.
  if [ "$2" = here ]; then
    batch_here "$3" </dev/null 3>&-
    batch_status=0 IFS=$batch_ifs
    set +f
  else
    set +e
    (
      set -eu
      eval "$3"
    ) </dev/null 3>&-
    batch_status=$?
    set -e
  fi
  printf '\n%s\n' "$batch_nonce:end:$1:$batch_status"
  printf '\n%s\n' "$batch_nonce:end:$1:$batch_status" >&2
  printf . >&3
  shift 3
  read -r batch_now _ </proc/uptime
  if [ $# -gt 0 ] && [ "${batch_now%%.*}" -ge "$batch_last" ]; then
    printf , >&3
    exit 0
  fi
done

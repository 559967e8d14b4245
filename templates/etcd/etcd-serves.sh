# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Waits until etcd serves, that is until the script CHECK succeeds. Then removes MARKER, which records that the start of
# etcd began.
tries=0
until said=$(timeout 20 sh -eu -c "$CHECK" 2>&1); do
  tries=$((tries + 1))
  if [ "$tries" -ge 150 ]; then
    printf 'etcd does not serve: %s\n' "$said" >&2
    exit 1
  fi
  sleep 1
done
rm -f -- "$MARKER"
sync "$(dirname "$MARKER")"

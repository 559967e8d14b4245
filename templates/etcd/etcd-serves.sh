# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Waits until etcd serves, as CHECK (a script) tells by its status, and removes MARKER, which says that its start was
# begun.
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

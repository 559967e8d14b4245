# shellcheck shell=sh disable=SC2154  # parameters come from outside
# given: etcd
# Removes the member ID from etcd, and waits until the others have a leader again. `e` and "$@" (etcdctl and its flags)
# come from outside too.
e remove "$@" member remove "$ID"
tries=0
until e health "$@" endpoint health >/dev/null 2>&1; do
  tries=$((tries + 1))
  if [ "$tries" -ge 60 ]; then
    echo "etcd has no leader 30 s after member $ID was removed" >&2
    exit 1
  fi
  sleep 0.5
done

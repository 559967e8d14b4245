# shellcheck shell=sh disable=SC2154  # parameters come from outside
# given: etcd
# Gives the learner ID its vote, once the leader says that it has caught up. `e` and "$@" (etcdctl and its flags) come
# from outside too.
tries=0
while :; do
  tries=$((tries + 1))
  if said=$(e "promote$tries" "$@" member promote "$ID" 2>&1); then exit 0; fi
  case $said in
    *'in sync with leader'*) ;;
    *)
      printf '%s\n' "$said" >&2
      exit 1
      ;;
  esac
  if [ "$tries" -ge 120 ]; then
    echo "member $ID has not caught up with the leader within 2 minutes" >&2
    exit 1
  fi
  sleep 1
done

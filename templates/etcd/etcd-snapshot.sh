# shellcheck shell=sh disable=SC2154  # parameters come from outside
# given: etcd
# A snapshot of the live etcd into FILE, which lies in a folder that etcd's container sees; prints etcdutl's verdict on
# it. `e` and "$@" (etcdctl and its flags) come from outside too. It has no time limit of its own.
umask 077
rm -f "$(dirname "$FILE")"/kbuild-snapshot-*
e save "$@" --command-timeout 15m snapshot save "$FILE" >&2
chmod 600 "$FILE"
e verify etcdutl snapshot status "$FILE" -w json

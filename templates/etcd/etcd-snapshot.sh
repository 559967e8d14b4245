# shellcheck shell=sh disable=SC2154  # parameters come from outside
# given: etcd
# Saves a snapshot of the live etcd to FILE, in a folder that etcd's container sees, and prints the status that etcdutl
# reports for it. `e` and "$@" (etcdctl and its flags) come from outside too. It has no time limit of its own.
umask 077
rm -f "$(dirname "$FILE")"/kbuild-snapshot-*
e save "$@" --command-timeout 15m snapshot save "$FILE" >&2
chmod 600 "$FILE"
e verify etcdutl snapshot status "$FILE" -w json

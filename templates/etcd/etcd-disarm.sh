# shellcheck shell=sh disable=SC2154  # parameters come from outside
# given: etcd
# Disarms etcd's alarms, and proves that etcd takes writes again: puts KEY and deletes it. `e` and "$@" (etcdctl and its
# flags) come from outside too.
e disarm "$@" alarm disarm
e put "$@" put "$KEY" written
e delete "$@" del "$KEY"

# shellcheck shell=sh disable=SC2034,SC2154  # for the command that follows; parameters come from outside
# Sets `$etcd_folder`, the folder of etcd's data, from the first of MANIFESTS (one path a line) that exists; empty if
# that manifest names none. Without a manifest it is DEFAULT_FOLDER.
etcd_folder=$DEFAULT_FOLDER
for manifest in $MANIFESTS; do
  if ! [ -e "$manifest" ]; then continue; fi
  etcd_folder=
  while read -r dash flag || [ -n "$dash" ]; do
    flag=${flag#[\"\']}
    case "$dash $flag" in '- --data-dir='*)
      etcd_folder=${flag#--data-dir=}
      etcd_folder=${etcd_folder%[\"\']}
      break
      ;;
    esac
  done <"$manifest"
  break
done

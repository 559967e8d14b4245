# shellcheck shell=sh disable=SC2034,SC2154  # for the command that follows; parameters come from outside
# Sets `$etcd_folder`, the folder of etcd's data: what the first of MANIFESTS (one path a line) that exists says; empty
# where it does not say. Without a manifest it is DEFAULT_FOLDER.
etcd_folder=$DEFAULT_FOLDER
for manifest in $MANIFESTS; do
  if [ -e "$manifest" ]; then
    etcd_folder=$(tr -d '"' <"$manifest" | tr -d "'" | sed -n 's/^ *- *--data-dir=//p' | head -n 1)
    break
  fi
done

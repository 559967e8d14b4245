# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints for DATA_PATHS, `$etcd_folder` (etcd-folder.sh) and SYSTEM_PATHS (one a line) where each lies or will lie, then
# the space there, then all mounts, then etcd's folder.
set --
for path in $DATA_PATHS "$etcd_folder" $SYSTEM_PATHS; do
  while ! [ -e "$path" ]; do
    case $path in
      ?*/*) path=${path%/*} ;;
      /*) path=/ ;;
      *) path=. ;;
    esac
  done
  set -- "$@" "$path"
done
readlink -f -- "$@"
stat -f -c '%a %S %b %d %c' -- "$@"
cat /proc/self/mountinfo
echo "etcd $etcd_folder"

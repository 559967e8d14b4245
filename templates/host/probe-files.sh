# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: ssh/root-path.sh
# Prints hash, mode, owner and time of change of the files PATHS and of all files below the folders TREES, one path a
# line. The functions of root-path.sh stand before this script: of a path that leads where another user decides it
# prints nothing but that.
IFS='
'
set -f
# One process observes nearly all folders on the way.
folders=$IFS
for path in $PATHS; do
  while path=${path%/*} && [ -n "$path" ]; do
    # The folders above it were found with it.
    case $folders in *"$IFS$path$IFS"*) break ;; esac
    folders=$folders$path$IFS
  done
done
found=$(stat -c '%u %g %f %n' -- / $folders 2>/dev/null) || :
note_root_folders "$found"
set --
for path in $PATHS; do
  if ! root_path "$path"; then
    printf 'unsafe %s\nbecause %s\n' "$path" "$why"
  elif [ -f "$path" ]; then
    set -- "$@" "$path"
  elif [ -d "$path" ]; then
    stat -L -c 'folder %.Y %n' -- "$path"
  elif [ -e "$path" ]; then
    echo "other $path"
  else echo "absent $path"; fi
done
found=
for tree in $TREES; do if [ -d "$tree" ]; then found="$found$IFS$(find "$tree" -type f)"; fi; done
set -- "$@" $found
if [ $# -gt 0 ]; then
  stat -L -c 'stat %a %U:%G %.Y %n' -- "$@"
  sha256sum -- "$@"
fi

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints hash, mode, owner and time of change of the files PATHS and of all files below the folders TREES, one path a line.
IFS='
'
set -f
set --
for path in $PATHS; do
  if [ -f "$path" ]; then
    set -- "$@" "$path"
  elif [ -d "$path" ]; then
    stat -L -c 'folder %.Y %n' -- "$path"
  elif [ -e "$path" ]; then
    echo "other $path"
  else echo "absent $path"; fi
done
found=$(for tree in $TREES; do if [ -d "$tree" ]; then find "$tree" -type f; fi; done)
set -- "$@" $found
if [ $# -gt 0 ]; then
  stat -L -c 'stat %a %U:%G %.Y %n' -- "$@"
  sha256sum -- "$@"
fi

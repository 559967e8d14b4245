# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: ssh/root-path.sh
# Prints FILE. The functions of root-path.sh stand before this script: a file is not shown where another user can
# exchange it.
root_path "$FILE" || refuse_path "$FILE"
if [ -n "$shared" ]; then
  # shellcheck disable=SC2034  # refuse_path prints it
  why="users other than root can make files in ${real%/*}"
  refuse_path "$FILE"
fi
cat -- "$real"

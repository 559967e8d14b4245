# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the values of kernel settings. SYSCTLS: name and file of each, one a line.
set -- $SYSCTLS
while [ $# -gt 0 ]; do
  if [ -e "$2" ]; then
    # Some settings are folders, others can only be written.
    value=$(tr -s '[:space:]' ' ' 2>/dev/null <"$2") || value=unreadable
    echo "$1 $value"
  else
    echo "$1 absent"
  fi
  shift 2
done

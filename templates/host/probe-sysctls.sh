# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the values of kernel settings. SYSCTLS: name and file of each, one a line.
set --
for word in $SYSCTLS; do case $word in /*) if [ -f "$word" ]; then set -- "$@" "$word"; fi ;; esac; done
values=
# One process reads them all: a shell that reads a byte at a time gets the first one of a number only.
if [ $# -gt 0 ]; then values=$(grep -Hs '' -- "$@" /dev/null) || :; fi
set -- $SYSCTLS
IFS='
'
set -f
while [ $# -gt 0 ]; do
  # Some settings are folders, others can only be written.
  value=unreadable known=
  if ! [ -e "$2" ]; then value=absent; fi
  for line in $values; do
    case $line in "$2:"*)
      known="$known ${line#"$2:"}"
      value=${known# }
      ;;
    esac
  done
  echo "$1 $value"
  shift 2
done

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the units that would turn swap on at boot, with their files: swap units that are not masked, and SERVICES (one
# a line) that are enabled. swap.target is always there: without any match, systemctl would fail.
units=$(systemctl list-unit-files --plain --no-legend --no-pager --full swap.target '*.swap' $SERVICES)
IFS='
'
set -f
for line in $units; do
  unit=${line%%[[:space:]]*}
  state=${line#"$unit"}
  state=${state#"${state%%[![:space:]]*}"}
  case $unit:${state%%[[:space:]]*} in
    swap.target:* | *:masked | *:masked-runtime) continue ;;
    *.service:enabled | *.service:enabled-runtime | *.swap:*) ;;
    *) continue ;;
  esac
  echo "Unit=$unit"
  systemctl show -p FragmentPath,SourcePath "$unit"
done

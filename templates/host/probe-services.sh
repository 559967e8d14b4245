# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the state of UNITS (services without `.service`, timers with `.timer`, one a line), each behind `Unit=NAME`.
services=
for unit in $UNITS; do
  case $unit in *.timer) services="$services $unit" ;; *) services="$services $unit.service" ;; esac
done
states=$(systemctl show $services --timestamp=us+utc -p LoadState,ActiveState,UnitFileState,ExecMainStartTimestamp,NeedDaemonReload)
set -- $UNITS
echo "Unit=$1"
# systemctl prints an empty line between one unit and the next.
printf '%s\n' "$states" | while IFS= read -r line; do
  if [ -n "$line" ]; then echo "$line"; else
    shift
    echo "Unit=$1"
  fi
done

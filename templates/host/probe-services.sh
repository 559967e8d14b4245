# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints UNITS (services without `.service`, timers with `.timer`, one a line), each as `Unit=NAME`, then the state of
# each in that order, with an empty line between one and the next.
services=
for unit in $UNITS; do
  echo "Unit=$unit"
  case $unit in *.timer) services="$services $unit" ;; *) services="$services $unit.service" ;; esac
done
systemctl show $services --timestamp=us+utc -p LoadState,ActiveState,UnitFileState,ExecMainStartTimestamp,NeedDaemonReload

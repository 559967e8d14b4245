# shellcheck shell=sh
# Prints the file, process ID and program name of the holder of zypper's lock. Programs over libzypp write their process
# ID into the file and empty it at their end; a dead process holds nothing.
file=/run/zypp.pid
pid=$(cat "$file" 2>/dev/null) || pid=
if [ -n "$pid" ] && [ -e "/proc/$pid/comm" ]; then echo "$file $pid $(cat "/proc/$pid/comm")"; fi

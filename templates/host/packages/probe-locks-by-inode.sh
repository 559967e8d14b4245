# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the file, process ID and program name of each holder of a lock of a package manager. Finds them by the inodes
# of its lock files in /proc/locks: a program that tests a lock takes it for a moment. FILES: the lock files. KINDS: a
# pattern (of `case`) of the locks that count, one a line.
set -f
set --
for file in $FILES; do if [ -e "$file" ]; then set -- "$@" "$file"; fi; done
if [ $# -gt 0 ]; then
  # Inode and file of each, in turn.
  inodes=$(stat -c '%i %n' -- "$@")
  set -- $inodes
  while read -r _ class mode access pid device _; do
    counts=
    # shellcheck disable=SC2254 # patterns
    for kind in $KINDS; do case $class-$mode-$access in $kind) counts=yes ;; esac; done
    if [ -z "$counts" ] || ! [ -e "/proc/$pid/comm" ]; then continue; fi
    file=
    for word in "$@"; do
      if [ "$file" = next ]; then
        name=
        read -r name <"/proc/$pid/comm" || continue
        echo "$word $pid $name"
        file=
      elif [ "${device##*:}" = "$word" ]; then file=next; fi
    done
  done </proc/locks
fi

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the file, process ID and program name of each holder of a lock of a package manager. Finds them by the inodes
# of its lock files in /proc/locks: a program that tests a lock takes it for a moment. FILES: the lock files. KINDS: a
# pattern of the locks that count.
for file in $FILES; do
  if ! [ -e "$file" ]; then continue; fi
  inode=$(stat -c %i "$file")
  grep -E "^[0-9]+: $KINDS .*:$inode " /proc/locks | while read -r _ _ _ _ pid _; do
    if [ -e "/proc/$pid/comm" ]; then echo "$file $pid $(cat "/proc/$pid/comm")"; fi
  done
done

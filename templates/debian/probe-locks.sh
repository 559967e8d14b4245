# shellcheck shell=sh
# Prints the file, process ID and program name of each holder of a lock of dpkg or apt. Finds them by the inodes of the lock
# files in /proc/locks: a program that tests a lock takes it for a moment.
for file in /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock; do
  if ! [ -e "$file" ]; then continue; fi
  inode=$(stat -c %i "$file")
  grep -E "^[0-9]+: (POSIX|OFDLCK|FLOCK) .*:$inode " /proc/locks | while read -r _ _ _ _ pid _; do
    if [ -e "/proc/$pid/comm" ]; then echo "$file $pid $(cat "/proc/$pid/comm")"; fi
  done
done

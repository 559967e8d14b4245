# shellcheck shell=sh
# Prints the file, process ID and program name of each holder of a lock of dnf5, found by the inodes of its lock files in /proc/locks.
# Reading the list of packages takes a lock that others share; it is no obstacle.
for file in /var/lib/dnf/system-repo.lock /usr/lib/sysimage/libdnf5/system-repo.lock /run/dnf/rpmtransaction.lock; do
  if ! [ -e "$file" ]; then continue; fi
  inode=$(stat -c %i "$file")
  grep -E "^[0-9]+: POSIX +ADVISORY +WRITE .*:$inode " /proc/locks | while read -r _ _ _ _ pid _; do
    if [ -e "/proc/$pid/comm" ]; then echo "$file $pid $(cat "/proc/$pid/comm")"; fi
  done
done

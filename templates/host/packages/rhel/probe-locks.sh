# shellcheck shell=sh
# Prints the file, process ID and program name of each holder of a lock of dnf. dnf 4 writes its process ID into the
# lock file; a dead process holds nothing.
for file in /var/cache/dnf/download_lock.pid /var/cache/dnf/metadata_lock.pid /var/lib/dnf/rpmdb_lock.pid; do
  pid=$(cat "$file" 2>/dev/null) || continue
  if [ -e "/proc/$pid/comm" ]; then echo "$file $pid $(cat "/proc/$pid/comm")"; fi
done

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# A function that prints at most the last $1 denials of SELinux of the last AGE seconds; nothing where the kernel has no
# SELinux. auditd writes them to its log, with the time in seconds; without it the journal has them, where journald
# listens to the kernel's audit twice: as a record ("AVC avc:") and as a message of the kernel ("audit: type=1400 …").
# The same denial is printed once.
avc_denials() {
  if ! [ -e /sys/fs/selinux/enforce ]; then return 0; fi
  from=$(($(date +%s) - AGE))
  log=/var/log/audit/audit.log
  if [ -r "$log" ]; then
    # The log may be long, and be rotated at any time.
    { tail -c 4000000 -- "$log.1" 2>/dev/null; tail -c 4000000 -- "$log" 2>/dev/null; } |
      awk -v from="$from" 'match($0, /msg=audit\([0-9]+/) && /avc: *denied/ && substr($0, RSTART + 10, RLENGTH - 10) + 0 >= from'
  else
    timeout 10 journalctl --since "@$from" --no-pager -o cat 2>/dev/null |
      awk '{ text = $0 } sub(/^.*avc: *denied/, "", text) && !seen[text]++'
  fi | tail -n "$1" || :
}

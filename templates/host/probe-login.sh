# shellcheck shell=sh disable=SC2154  # probe-batch.sh sets batch_now
# Prints `$batch_now`, when the shell of the probes began this one (probe-batch.sh), and when the login shell began, the
# last process before sshd (in ticks, /proc/PID/stat); `-` where no sshd is found.
pid=$$ began='' found=-
while [ "$pid" -gt 1 ] && read -r line 2>/dev/null <"/proc/$pid/stat"; do
  # The name stands in parentheses, and may hold any character.
  case ${line#*\(} in sshd*)
    found=$began
    break
    ;;
  esac
  set -- ${line##*\) }
  pid=$2 began=${20}
done
echo "$batch_now $found"

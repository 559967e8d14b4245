# shellcheck shell=sh
# Prints `$now`, when the shell of the probes began (probe-batch.sh), and when the login shell began, the last process
# before sshd (in ticks, /proc/PID/stat); `-` where no sshd is found.
awk -v pid="$$" -v now="$now" 'BEGIN {
  while (pid > 1 && (getline line <("/proc/" pid "/stat")) > 0) {
    name = line; sub(/^[0-9]+ \(/, "", name)
    if (name ~ /^sshd/) { print now, start; exit }
    sub(/^.*\) /, "", line); split(line, field, " ")
    pid = field[2]; start = field[20]
  }
  print now, "-"
}'

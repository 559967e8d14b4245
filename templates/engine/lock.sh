# Takes the lock LOCK and keeps it while a byte comes in on stdin at least every 45 s; it ends with its channel.
# Says `locked` and when it was used before (as the fact `lockUsed` does), or `held` and who holds it.
# HOLDER: one line about who takes it. LEFTOVERS: files that only a holder makes, one a line: those of a killed run go.
# In the file: the process that holds it (its descriptor 9 is the lock), then its HOLDER.
umask 077
mkdir -p -- "$(dirname -- "$LOCK")"
exec 9>>"$LOCK"
pid='' holder='' taken='' again=''
if flock -n 9; then taken=yes; fi
# A run that has just taken the lock writes its line a moment later.
tries=0
while [ -z "$taken$holder" ] && [ "$tries" -lt 10 ]; do
  tries=$((tries + 1))
  { IFS= read -r pid && IFS= read -r holder; } <"$LOCK" || :
  if [ -z "$holder" ] && flock -w 0.2 9; then taken=yes; fi
done
if [ -z "$taken" ]; then
  # This run's own lock, on a lost connection: no other run can have written that line.
  if [ "$holder" = "$HOLDER" ]; then again=yes; fi
  if [ -n "$again" ] && [ "/proc/$pid/fd/9" -ef "$LOCK" ]; then kill -KILL "$pid" || :; fi
  if [ -z "$again" ] || ! flock -w 5 9; then
    echo "held ${holder:-by a run that is taking it now}"
    exit 0
  fi
fi
if [ -z "$again" ]; then printf '%s\n' "$LEFTOVERS" | while read -r file; do rm -f -- "$file"; done; fi
used=$(stat -c %.Y -- "$LOCK")
printf '%s\n%s\n' "$$" "$HOLDER" >"$LOCK"
echo "locked $used"
# The children must not inherit the lock, or it would outlive this process.
while beat=$(exec timeout 45 head -c 1 9>&-) && [ -n "$beat" ]; do :; done
: >"$LOCK"

# Takes the lock LOCK and keeps it while a byte comes in on stdin at least every 45 s; it ends with its channel.
# Says `locked` and when it was used before (as the fact `lockUsed` does), or `held` and who holds it.
# HOLDER: one line about who takes it.
# In the file: the process that holds it (its descriptor 9 is the lock), then its HOLDER.
umask 077
mkdir -p -- "$(dirname -- "$LOCK")"
exec 9>>"$LOCK"
if ! flock -n 9; then
  pid='' holder=''
  { IFS= read -r pid && IFS= read -r holder; } <"$LOCK" || :
  # Our own, on a connection that we lost: nobody else can have written that line.
  if [ "$holder" = "$HOLDER" ] && [ "/proc/$pid/fd/9" -ef "$LOCK" ]; then kill -KILL "$pid" || :; fi
  if [ "$holder" != "$HOLDER" ] || ! flock -w 5 9; then
    echo "held ${holder:-by somebody who takes it just now}"
    exit 0
  fi
fi
used=$(stat -c %.Y -- "$LOCK")
printf '%s\n%s\n' "$$" "$HOLDER" >"$LOCK"
echo "locked $used"
# The children must not inherit the lock, or it would outlive this process.
while beat=$(exec timeout 45 head -c 1 9>&-) && [ -n "$beat" ]; do :; done
: >"$LOCK"

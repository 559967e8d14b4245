# Prints who holds the lock LOCK; nothing when nobody does. FORCE=yes ends that process, and nothing else.
pid='' holder=''
if [ -e "$LOCK" ]; then { IFS= read -r pid && IFS= read -r holder; } <"$LOCK" || :; fi
if [ -z "$pid" ] || ! [ "/proc/$pid/fd/9" -ef "$LOCK" ]; then exit 0; fi
printf '%s\n' "$holder"
if [ "$FORCE" = yes ]; then
  kill -KILL "$pid" || :
  flock -w 5 "$LOCK" true
fi

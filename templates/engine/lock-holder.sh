# Prints the holder of the lock LOCK; nothing if no process holds it. FORCE=yes ends only that process.
pid='' holder=''
if [ -e "$LOCK" ]; then { IFS= read -r pid && IFS= read -r holder; } <"$LOCK" || :; fi
if [ -z "$pid" ] || ! [ "/proc/$pid/fd/9" -ef "$LOCK" ]; then exit 0; fi
printf '%s\n' "$holder"
if [ "$FORCE" = yes ]; then
  kill -KILL "$pid" || :
  flock -w 5 "$LOCK" true
fi

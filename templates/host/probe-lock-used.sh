# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints when the lock LOCK was last taken or released (s, with nanoseconds); `held` while a process holds it, `never`
# where there is none.
if [ -e "$LOCK" ]; then
  pid=
  read -r pid <"$LOCK" || pid=
  if [ -n "$pid" ] && [ "/proc/$pid/fd/9" -ef "$LOCK" ]; then echo held; else stat -c %.Y "$LOCK"; fi
else echo never; fi

# Starts the job UNIT, once; waits for its end; prints its result and what it printed.
# Asked again after a lost connection, it finds FOLDER and only waits. STARTED=yes: the caller knows that the job began.
# Other parameters: JOBS (folders of all jobs), RUN (the folder in it that is this run's), LOCK (held by the job that
# runs), START_LOCK, SCRIPT and END (texts), and put_files, a function that writes the job's files to the current folder.
# Lines that begin with MARK are for the caller; what the job prints after `waiting: ` is told at once. When the caller has
# read all, it sends one line on stdin.
umask 077
mkdir -p -- "$JOBS"
: >>"$LOCK"
exec 8>>"$START_LOCK"

running() {
  systemctl list-units --plain --no-legend --no-pager --full \
    --state=active,reloading,activating,deactivating 'kbuild-job-*.service'
}

start() {
  # No job runs: whatever other runs left here has ended or never began, and nobody reads it.
  for other in "$JOBS"/*; do
    if [ "$other" != "$RUN" ]; then rm -rf -- "$other"; fi
  done
  rm -rf -- "$FOLDER.new"
  mkdir -p -- "$FOLDER.new/work"
  (cd -- "$FOLDER.new/work" && put_files)
  printf '%s\n' "$SCRIPT" >"$FOLDER.new/work/script"
  printf '%s\n' "$END" >"$FOLDER.new/end"
  mv -T -- "$FOLDER.new" "$FOLDER"
  if ! systemd-run --quiet --collect --unit="$UNIT" -p Type=exec -p KillMode=mixed -p TimeoutStopSec=5 -p UMask=0022 \
    -p WorkingDirectory=-"$FOLDER/work" -p StandardOutput=append:"$FOLDER/output" \
    -p StandardError=append:"$FOLDER/errors" -p ExecStopPost="/bin/sh $FOLDER/end $FOLDER" \
    --setenv=HOME=/root --setenv=LC_ALL=C --setenv=LANGUAGE= --setenv=PATH="$PATH" --setenv=KBUILD_JOB="$UNIT" \
    flock -o "$LOCK" /bin/sh -eu "$FOLDER/work/script"; then
    # What fails at once systemd may call a start that failed, without a word: its result is there all the same.
    if [ ! -e "$FOLDER/status" ]; then
      rm -rf -- "$FOLDER"
      exit 1
    fi
  fi
}

followed=
while :; do
  flock 8
  if [ -d "$FOLDER" ]; then break; fi
  if [ "$STARTED" = yes ]; then
    echo "$MARK gone"
    exit 0
  fi
  other=$(running)
  if [ -z "$other" ]; then
    start
    break
  fi
  flock -u 8
  other=${other%%.service*}
  if [ "$other" != "$followed" ]; then echo "$MARK follow $other"; fi
  followed=$other
  # Whoever runs holds the lock until it ends: waiting costs nothing.
  flock -s "$LOCK" true
  sleep 0.1
done
flock -u 8
echo "$MARK started"

tail -q -n +1 -F --pid=$$ -- "$FOLDER/output" 2>/dev/null 8>&- | sed -n -u "s/^waiting: /$MARK waiting /p" 8>&- &
teller=$!

while [ ! -e "$FOLDER/status" ]; do
  case $(systemctl show --property=ActiveState --value "$UNIT.service") in
    inactive | failed)
      if [ -e "$FOLDER/status" ]; then break; fi
      echo "$MARK gone"
      exit 0
      ;;
  esac
  flock -s "$LOCK" true
  if [ ! -e "$FOLDER/status" ]; then sleep 0.05; fi
done

kill "$teller" 2>/dev/null || :
wait "$teller" 2>/dev/null || :
if [ -e "$FOLDER/errors" ]; then tail -c 262144 -- "$FOLDER/errors" >&2; fi
echo "$MARK done $(cat -- "$FOLDER/status")"
if [ -e "$FOLDER/output" ]; then tail -c 1048576 -- "$FOLDER/output"; fi
printf '\n%s end\n' "$MARK"
if [ -n "$(timeout 60 head -n 1)" ]; then
  flock 8
  rm -rf -- "$FOLDER"
  rmdir -- "$RUN" 2>/dev/null || :
fi

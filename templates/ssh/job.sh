# Starts the job UNIT once, waits for its end, and prints its result and its output. If it runs again after a lost
# connection, it finds FOLDER and only waits. STARTED=yes: the caller knows that the job began. Other parameters: JOBS
# (folder of all jobs), RUN (this run's folder in it), LOCK (the running job holds it), START_LOCK, SCRIPT and END
# (texts), DEADLINE_SECONDS (the limit of the job), READ_SECONDS (how long a new job waits until another run has read
# its result), NAME, TELL_SECONDS (seconds between two reports of what the job does), LOAD_SECONDS (between two reports
# of what it has downloaded), and put_files, a function that writes the job's files to the current folder. A job may
# write to its working folder: to `doing` what it does, to `downloads` the folders that it downloads to, and an empty
# `tells` if it reports by itself. Lines that begin with MARK are for the caller, which gets a line `waiting: ` of the
# job at once. When the caller has read all lines, it sends one line on stdin.
umask 077
mkdir -p -- "$JOBS"
: >>"$LOCK"
exec 8>>"$START_LOCK"

running() {
  systemctl list-units --plain --no-legend --no-pager --full \
    --state=active,reloading,activating,deactivating 'kbuild-job-*.service'
}

start() {
  # No job runs: the folders of other runs belong to jobs that ended or never began. A script that follows such a job
  # may not have read its result yet, and holds the lock of the run's folder. One whose connection is lost ends at its
  # next line.
  for other in "$JOBS"/*; do
    if [ "$other" = "$RUN" ]; then continue; fi
    if [ -d "$other" ] && [ ! -L "$other" ]; then
      flock -w "$READ_SECONDS" -x "$other" rm -rf -- "$other" || :
    else
      rm -rf -- "$other"
    fi
  done
  rm -rf -- "$FOLDER.new"
  mkdir -p -- "$FOLDER.new/work"
  (cd -- "$FOLDER.new/work" && put_files)
  printf '%s\n' "$SCRIPT" >"$FOLDER.new/work/script"
  printf '%s\n' "$END" >"$FOLDER.new/end"
  mv -T -- "$FOLDER.new" "$FOLDER"
  if ! systemd-run --quiet --collect --unit="$UNIT" -p Type=exec -p KillMode=mixed -p RuntimeMaxSec="$DEADLINE_SECONDS" -p TimeoutStopSec=5 -p UMask=0022 \
    -p WorkingDirectory=-"$FOLDER/work" -p StandardOutput=append:"$FOLDER/output" \
    -p StandardError=append:"$FOLDER/errors" -p ExecStopPost="/bin/sh $FOLDER/end $FOLDER" \
    --setenv=HOME=/root --setenv=LC_ALL=C --setenv=LANGUAGE= --setenv=PATH="$PATH" --setenv=KBUILD_JOB="$UNIT" \
    flock -o "$LOCK" /bin/sh -eu "$FOLDER/work/script"; then
    # If a job fails at once, systemd may report a failed start. The job has a result all the same.
    if [ ! -e "$FOLDER/status" ]; then
      rm -rf -- "$FOLDER"
      exit 1
    fi
  fi
}

# The addresses to which processes of the job are connected.
peers() {
  pids=$(grep -ls -F "/$UNIT.service" /proc/[0-9]*/cgroup | cut -d / -f 3 | tr '\n' ' ')
  ss -Htnp state connected 2>/dev/null | awk -v pids=" $pids" '
    match($0, /pid=[0-9]+/) && index(pids, " " substr($0, RSTART + 4, RLENGTH - 4) " ") && !said[$5]++ { printf "%s ", $5 }'
}

# Bytes in the folders that the job downloads to. Empty if it downloads nothing, or if counting them takes longer than
# $1 s.
loaded() {
  if [ ! -s "$FOLDER/work/downloads" ]; then return 0; fi
  timeout "$1" xargs du -scb -- <"$FOLDER/work/downloads" 2>/dev/null | awk '$2 == "total" { printf "%d", $1 }'
}

# Prints the bytes downloaded since the job was followed, and since the last time, if there are more.
load() {
  bytes=$(loaded 1)
  if [ -z "$bytes" ]; then return 0; fi
  if [ -z "$first" ]; then first=$bytes; fi
  if [ -n "$last" ] && [ "$bytes" -gt "$last" ]; then
    echo "$MARK loads $((bytes - first)) $(((bytes - last) / LOAD_SECONDS))"
  fi
  last=$bytes
}

# Reports every TELL_SECONDS what the job does. Its sleeps do not keep the channel open.
tell() {
  since=$(stat -c %Y -- "$FOLDER/work/script" 2>/dev/null || date +%s)
  # The job says soon after its start where it downloads to.
  sleep 0.5 >/dev/null 2>&1 || return 0
  before=$(loaded 10)
  first=$before
  last=$before
  waited=0
  while sleep "$LOAD_SECONDS" >/dev/null 2>&1; do
    # It would keep the channel open for ever.
    if ! kill -0 $$ 2>/dev/null; then return 0; fi
    if [ -e "$FOLDER/status" ] || [ -e "$FOLDER/work/tells" ]; then return 0; fi
    load
    waited=$((waited + LOAD_SECONDS))
    if [ "$waited" -lt "$TELL_SECONDS" ]; then continue; fi
    waited=0
    text=$(tail -n 1 -- "$FOLDER/output" 2>/dev/null | cut -c 1-160)
    if [ "${text#waiting: }" != "$text" ]; then
      text=${text#waiting: }
    elif [ -s "$FOLDER/work/doing" ]; then
      text=$(head -n 1 -- "$FOLDER/work/doing" | cut -c 1-160)
    fi
    to=$(peers)
    if [ -n "$to" ]; then text="$text; connected to ${to% }"; fi
    now=$(loaded 10)
    if [ -n "$now" ]; then
      kilobytes=$(((now - ${before:-0}) / 1024))
      # The job may have deleted a download.
      if [ "$kilobytes" -lt 0 ]; then kilobytes=0; fi
      text="$text; $kilobytes kB in $TELL_SECONDS s"
      before=$now
    fi
    echo "$MARK waiting $NAME since $(($(date +%s) - since)) s: ${text:-it says nothing}"
  done
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
  # The running job holds the lock until it ends.
  flock -s "$LOCK" true
  sleep 0.1
done
# Until the result is read, no other run removes the folder.
exec 9<"$RUN"
flock -s 9
flock -u 8
echo "$MARK started"

tail -q -n +1 -F --pid=$$ -- "$FOLDER/output" 2>/dev/null 8>&- 9<&- | sed -n -u "s/^waiting: /$MARK waiting /p" 8>&- 9<&- &
teller=$!
tell 8>&- 9<&- &
ticker=$!
# They keep the channel open.
end_reports() {
  kill "$teller" "$ticker" 2>/dev/null || :
  wait "$ticker" 2>/dev/null || :
  # Not by `wait`, with which dash waits for tail too: that of uutils does not see that its reader has gone. It
  # ends with this shell, and has nothing open that keeps the channel.
  tries=0
  while kill -0 "$teller" 2>/dev/null && [ "$tries" -lt 100 ]; do
    sleep 0.01
    tries=$((tries + 1))
  done
}

while [ ! -e "$FOLDER/status" ]; do
  case $(systemctl show --property=ActiveState --value "$UNIT.service") in
    inactive | failed)
      if [ -e "$FOLDER/status" ]; then break; fi
      end_reports
      echo "$MARK gone"
      exit 0
      ;;
  esac
  flock -s "$LOCK" true
  if [ ! -e "$FOLDER/status" ]; then sleep 0.05; fi
done

end_reports
if [ -e "$FOLDER/errors" ]; then tail -c 262144 -- "$FOLDER/errors" >&2; fi
echo "$MARK done $(cat -- "$FOLDER/status")"
if [ -e "$FOLDER/output" ]; then tail -c 1048576 -- "$FOLDER/output"; fi
printf '\n%s end\n' "$MARK"
if [ -n "$(timeout 60 head -n 1 9<&-)" ]; then
  # Who holds lock 8 may wait for lock 9.
  exec 9<&-
  flock 8
  rm -rf -- "$FOLDER"
  rmdir -- "$RUN" 2>/dev/null || :
fi

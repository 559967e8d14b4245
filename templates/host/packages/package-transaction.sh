# shellcheck shell=sh disable=SC2034  # the script that follows reads them
# Functions for scripts that install packages. The script that follows defines `is_locked STATUS FILE`, which is true
# when a command with this status and stderr failed because another process holds a lock, and `holders`, which prints
# them.
LOCK_SECONDS=600
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Tells job.sh what is done now.
doing() { echo "$*" >doing || :; }

# A machine that was just made may still be configuring itself, with packages too. A failure of cloud-init is not an
# error of this script.
wait_for_cloud_init() {
  if ! command -v cloud-init >/dev/null; then return 0; fi
  doing "cloud-init status --wait"
  timeout "$LOCK_SECONDS" cloud-init status --wait >/dev/null 2>&1 ||
    echo "cloud-init did not end well within $LOCK_SECONDS s: $(cloud-init status 2>/dev/null | head -n 1)"
}

# Runs a command again for as long as it fails because another process holds a lock.
patiently() {
  deadline=$(($(date +%s) + LOCK_SECONDS))
  said=
  while :; do
    status=0
    "$@" 2>"$work/stderr" || status=$?
    if [ "$status" -eq 0 ]; then return 0; fi
    if ! is_locked "$status" "$work/stderr"; then break; fi
    who=$(holders)
    if [ "$(date +%s)" -ge "$deadline" ]; then
      echo "gave up after $LOCK_SECONDS s: $who" >&2
      break
    fi
    if [ "$who" != "$said" ]; then echo "waiting: $who"; fi
    said=$who
    sleep 1
  done
  cat "$work/stderr" >&2
  return "$status"
}

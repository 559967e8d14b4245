# shellcheck shell=sh disable=SC2154  # parameters come from outside
# given: left-runtime
# Takes a container runtime out of use that Kubernetes has left: stops it, unless others use it, and takes back what
# kbuild wrote for it. Its packages, images and data stay. It uses runtime_others of the runtime's own file. Parameters:
# UNITS, in the order in which they are stopped: one a line, and behind it those that would start it again; IN_USE
# (empty: no program is known to have containers on the first); FILES: paths, one a line; CONFIG: its configuration;
# BACKUP: what that was before (empty: nothing keeps it); REGISTRIES: a folder of registry files whose empty folders go
# too; REGISTRIES_USE: `whole` if it goes itself when it is empty, `shared` if others have files there. The
# configuration goes last: by it the next run knows that something is left to do.
printf '%s\n' "$UNITS" | {
  users=$IN_USE
  while read -r unit more; do
    # Its package may have been removed since.
    if systemctl cat "$unit" >/dev/null 2>&1; then
      for other in $(systemctl show -p RequiredBy -p WantedBy -p BoundBy --value "$unit"); do
        case $other in
          *.service) if systemctl -q is-active "$other"; then users="$users $other"; fi ;;
        esac
      done
      if ! others=$(runtime_others "$unit" </dev/null); then
        echo "$unit does not tell what others have on it, so it stays as it is" >&2
        exit 1
      fi
      if [ -n "$others" ]; then users="$users $(echo "$others" | tr '\n' ' ')"; fi
      if [ -n "$users" ]; then
        echo "$unit goes on for$users"
      else
        for one in $more; do
          if systemctl cat "$one" >/dev/null 2>&1; then unit="$unit $one"; fi
        done
        # shellcheck disable=SC2086  # several units
        systemctl disable --now $unit 2>&1
      fi
    fi
    users=
  done
}
printf '%s\n' "$FILES" | while read -r file; do
  case $file in
    '' | "$CONFIG" | "$BACKUP") ;;
    *) rm -f -- "$file" ;;
  esac
  case $file in
    "$REGISTRIES"/* | /etc/systemd/system/*.d/*) rmdir -- "$(dirname "$file")" 2>/dev/null || true ;;
  esac
done
if [ "$REGISTRIES_USE" = whole ]; then rmdir -- "$REGISTRIES" 2>/dev/null || true; fi
if [ -n "$BACKUP" ] && [ -f "$BACKUP" ]; then mv -- "$BACKUP" "$CONFIG"; else rm -f -- "$CONFIG"; fi
case $CONFIG in
  /etc/systemd/system/*.d/*) rmdir -- "$(dirname "$CONFIG")" 2>/dev/null || true ;;
esac
systemctl daemon-reload

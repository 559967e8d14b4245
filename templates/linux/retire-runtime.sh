# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Takes a container runtime out of use that Kubernetes has left: stops it, unless others use it, and takes back what kbuild wrote for it. Its
# packages, images and data stay. It uses runtime_serving of serving-runtime.sh. Parameters: UNIT, SOCKET (of the runtime); IN_USE (empty:
# no program is known to have containers there); FILES: paths, one a line; CONFIG: its configuration; BACKUP: what that was before (empty:
# nothing keeps it); REGISTRIES: a folder of registry files whose empty folders go too (may be empty). The configuration goes last: by it
# the next run knows that something is left to do.
if [ "$runtime_serving" = "$SOCKET" ]; then
  echo "the kubelet still uses $SOCKET" >&2
  exit 1
fi
users=$IN_USE
for other in $(systemctl show -p RequiredBy -p WantedBy -p BoundBy --value "$UNIT"); do
  case $other in
    *.service) if systemctl -q is-active "$other"; then users="$users $other"; fi ;;
  esac
done
if [ -n "$users" ]; then
  echo "$UNIT goes on for$users"
# Its package may have been removed since.
elif systemctl cat "$UNIT" >/dev/null 2>&1; then
  systemctl disable --now "$UNIT" 2>&1
fi
printf '%s\n' "$FILES" | while read -r file; do
  case $file in
    '' | "$CONFIG" | "$BACKUP") ;;
    *) rm -f -- "$file" ;;
  esac
  case $file in
    "${REGISTRIES:-/none}"/*) rmdir -- "$(dirname "$file")" 2>/dev/null || true ;;
  esac
done
if [ -n "$REGISTRIES" ]; then rmdir -- "$REGISTRIES" 2>/dev/null || true; fi
if [ -n "$BACKUP" ] && [ -f "$BACKUP" ]; then mv -- "$BACKUP" "$CONFIG"; else rm -f -- "$CONFIG"; fi
systemctl daemon-reload

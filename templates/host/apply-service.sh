# Enables a service and starts, restarts or reloads it. UNIT: its name. ACTION: start, restart, reload or none. USES:
# paths that it reads. APPLIED: folder where the hash of what was loaded is noted; empty: nowhere.
unit=$UNIT.service
systemctl daemon-reload
case $(systemctl show -p UnitFileState --value "$unit") in
  masked) systemctl unmask "$unit" ;;
  masked-runtime) systemctl --runtime unmask "$unit" ;;
esac
# A file that is dated in the future, from before the clock was set, would look newer than any start.
now=$(mktemp)
trap 'rm -f "$now"' EXIT
IFS='
'
for path in $USES; do
  if [ -e "$path" ] && [ "$path" -nt "$now" ]; then touch -- "$path"; fi
done
systemctl --quiet enable "$unit"
case $ACTION in
  none) ;;
  *)
    systemctl reset-failed "$unit" || true
    systemctl "$ACTION" "$unit" || {
      journalctl -u "$unit" -n 15 -o cat --no-pager >&2
      exit 1
    }
    ;;
esac
if [ -n "$APPLIED" ] && [ "$ACTION" != none ]; then
  mkdir -p "$APPLIED"
  # What the files hold now is what was loaded, unless they changed in between: kbuild holds the lock.
  for path in $USES; do sha256sum -- "$path"; done | sed 's/^\(.\{64\}\)  .*/\1/' | sha256sum | cut -c 1-64 >"$APPLIED/$UNIT.new"
  mv "$APPLIED/$UNIT.new" "$APPLIED/$UNIT"
fi

# Enables a service and starts or restarts it. UNIT: its name. ACTION: start, restart or none. USES: paths that it reads.
unit=$UNIT.service
systemctl daemon-reload
if [ "$(systemctl show -p UnitFileState --value "$unit")" = masked ]; then systemctl unmask "$unit"; fi
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

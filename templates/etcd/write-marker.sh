# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: kubeadm/marker.sh
# Records on disk the stage that an action has reached: MARKER (a path), CLUSTER, ACTION, STAGE, ABOUT (the subject of
# the action). Keeps the marker of another action in KEPT (a path) until this action has ended: only the action that
# wrote a marker removes it.
if [ -e "$MARKER" ] && [ ! -e "$KEPT" ] && ! grep -q "\"action\":\"$ACTION\"" "$MARKER"; then
  cp -- "$MARKER" "$KEPT.new"
  sync "$KEPT.new"
  mv -f -- "$KEPT.new" "$KEPT"
fi
mark "$ACTION" "$STAGE" "$ABOUT"

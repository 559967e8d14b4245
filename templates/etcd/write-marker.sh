# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: kubeadm/marker.sh
# Notes on disk how far an action has come: MARKER (a path), CLUSTER, ACTION, STAGE, ABOUT (what it is about). The
# marker of another action is kept in KEPT (a path) until this one has ended: only the action that wrote a marker takes
# it away.
if [ -e "$MARKER" ] && [ ! -e "$KEPT" ] && ! grep -q "\"action\":\"$ACTION\"" "$MARKER"; then
  cp -- "$MARKER" "$KEPT.new"
  sync "$KEPT.new"
  mv -f -- "$KEPT.new" "$KEPT"
fi
mark "$ACTION" "$STAGE" "$ABOUT"

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Notes on disk how far an action has come: MARKER (a path), CLUSTER, ACTION, STAGE, ABOUT (what it is about).
mkdir -p "$(dirname "$MARKER")"
printf '{"cluster":"%s","action":"%s","job":"%s","stage":"%s","about":"%s"}\n' "$CLUSTER" "$ACTION" "${INVOCATION_ID:-none}" "$STAGE" "$ABOUT" >"$MARKER.new"
sync "$MARKER.new"
mv "$MARKER.new" "$MARKER"
sync "$(dirname "$MARKER")"

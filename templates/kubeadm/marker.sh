# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Functions for jobs. `mark ACTION STAGE [ABOUT [HOW]]` notes on disk how far an action of CLUSTER has come, in MARKER
# (a path); ABOUT: its subject; HOW: the command that carries it out. Returns when the note has reached the
# disk.
mark() {
  mkdir -p "$(dirname "$MARKER")"
  printf '{"cluster":"%s","action":"%s","job":"%s","stage":"%s"%s%s}\n' "$CLUSTER" "$1" "${INVOCATION_ID:-none}" "$2" \
    "${3:+,\"about\":\"$3\"}" "${4:+,\"how\":\"$4\"}" >"$MARKER.new"
  sync "$MARKER.new"
  mv "$MARKER.new" "$MARKER"
  sync "$(dirname "$MARKER")"
}

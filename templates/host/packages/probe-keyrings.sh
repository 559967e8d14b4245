# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints of KEYRINGS (key files, one path a line) those that exist: `written PATH TIME` (seconds since the epoch), then
# `data PATH CONTENT` in base64.
set --
for path in $KEYRINGS; do if [ -f "$path" ]; then set -- "$@" "$path"; fi; done
if [ $# -gt 0 ]; then
  stat -c 'written %n %Y' -- "$@"
  for path in "$@"; do
    printf 'data %s ' "$path"
    base64 -w 0 "$path"
    echo
  done
fi

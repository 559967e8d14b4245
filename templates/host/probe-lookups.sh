# shellcheck shell=sh disable=SC2046,SC2154  # words of a list; parameters come from outside
# Prints the IPv4 addresses that the host's resolver has for its own name (as `own`), `localhost` and NAMES, one a line.
resolve() {
  status=0
  found=$(timeout 3 getent ahostsv4 "$2") || status=$?
  if [ $status = 124 ]; then
    echo "$1 silent"
  else echo "$1 known" $(echo "$found" | cut -d' ' -f1 | sort -u); fi
}
resolve own "$(uname -n)" &
for name in localhost $NAMES; do resolve "$name" "$name" & done
wait

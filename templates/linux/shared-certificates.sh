# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints files below /etc/kubernetes/pki: name and base64, one a line. Parameter: NAMES (words).
cd /etc/kubernetes/pki || exit
for name in $NAMES; do
  printf '%s %s\n' "$name" "$(base64 -w 0 -- "$name")"
done

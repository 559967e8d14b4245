# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the files below /etc/kubernetes/pki that are there: name and base64, one a line. Parameter: NAMES (words).
# Each line counts as a secret: a name alone would be masked in every message.
cd /etc/kubernetes/pki || exit
for name in $NAMES; do
  if [ -f "$name" ]; then printf '%s %s\n' "$name" "$(base64 -w 0 -- "$name")"; fi
done

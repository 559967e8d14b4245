# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the files and folders that kbuild wrote: of the files MARKED those with the words HEADER, and what exists of
# NAMES. MARKED, NAMES: one path a line; NAMES may be empty.
grep -lsF -e "$HEADER" -- $MARKED || true
for name in $NAMES; do
  if [ -e "$name" ] || [ -L "$name" ]; then echo "$name"; fi
done

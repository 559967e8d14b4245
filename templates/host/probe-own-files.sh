# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the files and folders that kbuild wrote: of the files MARKED those with the words HEADER, and what exists of
# NAMES. MARKED, NAMES: one path a line; NAMES may be empty.
grep -lsF -e "$HEADER" -- $MARKED || true
# Without a name, ls would name the present folder.
if [ -n "$NAMES" ]; then ls -d -- $NAMES 2>/dev/null || true; fi

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints those of the paths PROGRAMS that can be run, and those of DEVICES that are there, one a line.
IFS='
'
set -f
for path in $PROGRAMS; do if [ -f "$path" ] && [ -x "$path" ]; then echo "$path"; fi; done
for path in $DEVICES; do if [ -e "$path" ]; then echo "$path"; fi; done

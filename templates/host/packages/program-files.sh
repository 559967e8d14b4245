# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Functions for the programs that kbuild installs. PROGRAMS: the folder of their records. A record is a file with the
# name of the package: its first line is the version, each further one SIZE SECONDS PATH of a file.

# Prints the paths in the record of $1.
recorded() { if [ -e "$PROGRAMS/$1" ]; then sed -n '2,$s/^[0-9]* [0-9]* //p' "$PROGRAMS/$1"; fi; }

# The name of a file $1 while it is written.
unfinished() { echo "${1%/*}/.${1##*/}.kbuild-new"; }

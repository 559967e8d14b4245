# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the files and folders that kbuild wrote: of the files MARKED those with the words HEADER, what exists of NAMES, and
# the registries' configurations below CERTS_D. MARKED, NAMES: one path a line.
grep -lsF -e "$HEADER" -- $MARKED || true
ls -d -- $NAMES 2>/dev/null || true
if [ -d "$CERTS_D" ]; then
  find "$CERTS_D" -name hosts.toml -exec grep -lF -e "$HEADER" -- {} + | while read -r file; do
    echo "$file"
    ls "$(dirname "$file")/ca.crt" 2>/dev/null || true
  done
fi

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the files below the folder REGISTRIES that begin with kbuild's HEADER, and the CA certificates beside them.
if [ -d "$REGISTRIES" ]; then
  find "$REGISTRIES" -name hosts.toml -exec grep -lF -e "$HEADER" -- {} + | while read -r file; do
    echo "$file"
    ls "$(dirname "$file")/ca.crt" 2>/dev/null || true
  done
fi

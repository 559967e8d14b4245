# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints a line for each of FILES (paths, one a line; may be empty): `absent`, or `present` and its content in base64.
for file in $FILES; do
  if [ -e "$file" ]; then
    printf 'present '
    base64 -w 0 <"$file"
    echo
  else echo absent; fi
done

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the hosts.toml of the folders below REGISTRIES, one for each registry, that hold kbuild's HEADER, and the CA
# certificates beside them.
for file in "$REGISTRIES"/*/hosts.toml; do
  if ! [ -f "$file" ]; then continue; fi
  isOwn=
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in *"$HEADER"*)
      isOwn=yes
      break
      ;;
    esac
  done <"$file"
  if [ -z "$isOwn" ]; then continue; fi
  echo "$file"
  if [ -e "${file%/*}/ca.crt" ]; then echo "${file%/*}/ca.crt"; fi
done

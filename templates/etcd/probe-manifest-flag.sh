# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints `found`, then the value of the flag FLAG in the first of the manifests FILES (one path a line) that exists, if
# it is there; `absent` without a manifest.
state=absent
for file in $FILES; do
  if ! [ -e "$file" ]; then continue; fi
  state=found value=
  while read -r dash flag || [ -n "$dash" ]; do
    case "$dash $flag" in "- --$FLAG="*)
      value=${flag#"--$FLAG="}
      break
      ;;
    esac
  done <"$file"
  break
done
echo $state
if [ $state = found ]; then printf '%s\n' "$value"; fi

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints NAME VERSION STATE for every record in the folder PROGRAMS: `installed` if each file of it has the size and the
# time that it had after its installation, else `changed`.
for record in "$PROGRAMS"/*; do
  if ! [ -f "$record" ]; then continue; fi
  state=installed
  {
    read -r version
    while read -r size seconds path; do
      if [ "$(stat -c '%s %Y' -- "$path" 2>/dev/null)" != "$size $seconds" ]; then state=changed; fi
    done
  } <"$record"
  echo "${record##*/} $version $state"
done

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Makes the system's store of trusted authorities. FOLDER: where its files are; EXTENSION: how they end; WANTED:
# kbuild's files there, one a line; all others of kbuild's go. UPDATE: the command that reads the folder; empty:
# programs read it themselves. RECORD: gets WANTED when all is done; without any, it goes.
for file in "$FOLDER"/kbuild-*."$EXTENSION"; do
  if [ -e "$file" ] && ! echo "$WANTED" | grep -qxF -e "$file"; then rm -f -- "$file"; fi
done
# shellcheck disable=SC2086 # a command
if [ -n "$UPDATE" ]; then $UPDATE >/dev/null; fi
if [ -z "$WANTED" ]; then
  rm -f -- "$RECORD"
else
  mkdir -p -- "${RECORD%/*}"
  echo "$WANTED" >"$RECORD.new"
  mv -f -- "$RECORD.new" "$RECORD"
fi

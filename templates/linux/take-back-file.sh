# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Undoes note-file.sh: FILE is what it was before, or gone, and no longer in RECORD. KEPT: the folder of what was there.
if [ -e "$KEPT$FILE" ]; then mv -- "$KEPT$FILE" "$FILE"; else rm -f -- "$FILE"; fi
if [ -e "$RECORD" ]; then
  # 1: no line is left. More: it could not be written.
  grep -vxF -- "$FILE" "$RECORD" >"$RECORD.new" || [ $? -eq 1 ]
  sync "$RECORD.new"
  mv -- "$RECORD.new" "$RECORD"
fi

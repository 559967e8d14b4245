# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: ssh/root-path.sh
# Undoes note-file.sh: FILE is what it was before, or gone, and no longer in RECORD. KEPT: the folder of what was there.
# The functions of root-path.sh stand before this script: where another user decides where FILE leads, it stays, unless
# it is gone.
if root_entry "$FILE" make; then
  if [ -e "$KEPT$FILE" ]; then mv -fT -- "$KEPT$FILE" "$real"; else rm -f -- "$real"; fi
elif [ -e "$FILE" ] || [ -L "$FILE" ]; then
  refuse_path "$FILE"
fi
if [ -e "$RECORD" ]; then
  # 1: no line is left. More: it could not be written.
  grep -vxF -- "$FILE" "$RECORD" >"$RECORD.new" || [ $? -eq 1 ]
  sync "$RECORD.new"
  mv -- "$RECORD.new" "$RECORD"
fi

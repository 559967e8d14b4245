# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: ssh/root-path.sh
# Notes FILE in RECORD, and keeps what is there now below the folder KEPT. Nothing is noted twice. The functions of
# root-path.sh stand before this script: a file that another user leads elsewhere is neither copied nor noted.
root_path "$FILE" || refuse_path "$FILE"
mkdir -p -- "$(dirname "$RECORD")"
if [ -f "$FILE" ] && [ ! -e "$KEPT$FILE" ]; then
  mkdir -p -- "$KEPT$(dirname "$FILE")"
  chmod 700 -- "$KEPT"
  # P: in a folder such as /tmp its owner may exchange it for a link meanwhile.
  cp -pP -- "$real" "$KEPT$FILE.new"
  mv -- "$KEPT$FILE.new" "$KEPT$FILE"
fi
if [ -e "$RECORD" ]; then cat -- "$RECORD" >"$RECORD.new"; else : >"$RECORD.new"; fi
printf '%s\n' "$FILE" >>"$RECORD.new"
sort -u -o "$RECORD.new" -- "$RECORD.new"
sync "$RECORD.new"
mv -- "$RECORD.new" "$RECORD"

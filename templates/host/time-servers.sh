# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Has chrony read FILE, in which kbuild's time servers are. MADE: the file that systemd-tmpfiles makes of it, which
# chrony reads; empty: chrony reads FILE itself. PROOF: lines that chrony's configuration has only if it reads them.
# CONFIG: the operator's configuration; DIRECTIVE: the line that it needs for that. UNIT: chrony's unit. If chrony does
# not read the file, it goes again.
if [ -n "$MADE" ]; then systemd-tmpfiles --create "$FILE"; fi
unread() {
  echo "$1" >&2
  rm -f -- "$FILE" ${MADE:+"$MADE"}
  exit 1
}
# What it has against the configuration it says on stderr.
read_by_chrony=$(chronyd -p) || unread "chronyd rejects its configuration; correct it: chronyd -p"
read_by_chrony=$(printf '%s\n' "$read_by_chrony" | sed 's#/*$##')
printf '%s\n' "$PROOF" | while IFS= read -r line; do
  printf '%s\n' "$read_by_chrony" | grep -qixF -e "$line" || exit 1
done || unread "$CONFIG does not read ${MADE:-$FILE}, so that chrony would not use the time servers of the inventory: add to it the line: $DIRECTIVE"
systemctl try-restart "$UNIT.service"

#!/bin/sh
# Takes programs from an archive of a project's release. RELEASES_BASE: a site laid out as https://github.com. ARCHIVE: its path there.
# SUMS: the path of the published checksums. CHECKSUMS: a file of "SHA256  NAME-OF-THE-ARCHIVE" lines that is believed instead, or empty.
# MEMBERS: the programs' paths in the archive. OUT: folder for the programs.
set -eu
name=${ARCHIVE##*/}
if [ -n "$CHECKSUMS" ]; then
  cp "$CHECKSUMS" sums
else
  curl -fsSL --retry 3 -o sums "$RELEASES_BASE/$SUMS"
fi
# Some projects publish "SHA256  NAME", some "SHA256 *NAME", some "SHA256" alone.
sum=$(awk -v name="$name" '{ sub(/^\*/, "", $2) } $2 == name || (NF == 1 && NR == 1) { print $1; exit }' sums)
[ -n "$sum" ] || { echo "no checksum for $name"; exit 1; }
curl -fsSL --retry 3 -o "$name" "$RELEASES_BASE/$ARCHIVE"
echo "$sum  $name" | sha256sum --check --quiet
mkdir tree
tar -xf "$name" -C tree
for member in $MEMBERS; do install -m 755 "tree/$member" "$OUT/"; done

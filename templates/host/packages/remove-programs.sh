# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: host/packages/program-files.sh
# Removes the programs of the packages NAMES that kbuild installed, and their records. PROGRAMS: the folder of records.
# UNITS: units that run these programs; they are stopped and disabled first. STATE: folders of what these programs
# record; a record that is still there stays. The functions of program-files.sh stand before this script.
for unit in $UNITS; do
  if systemctl cat "$unit" >/dev/null 2>&1; then systemctl --quiet disable --now "$unit"; fi
done
for name in $NAMES; do
  recorded "$name" | while read -r path; do
    rm -f -- "$path" "$(unfinished "$path")"
      case $path in /opt/*) rmdir -- "${path%/*}" 2>/dev/null || : ;; esac
  done
  rm -f -- "$PROGRAMS/$name"
done
for folder in $STATE; do
  if [ -d "$folder" ]; then find "$folder" -xdev -depth -type d -empty -delete; fi
done
rm -rf -- "$PROGRAMS/.downloads"
rmdir -- "$PROGRAMS" 2>/dev/null || :

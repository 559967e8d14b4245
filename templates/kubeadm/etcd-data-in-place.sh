# shellcheck shell=sh disable=SC2154  # parameters come from outside
# After etcd-restore-prepare.sh: moves the new data (WORK/data) to FOLDER, where etcd will find it, and notes in NOTE (a
# path) from which backup it is (ABOUT).
mv -T "$WORK/data/member" "$FOLDER/member"
chmod 700 "$FOLDER"
rm -rf -- "$WORK"
mkdir -p "$(dirname "$NOTE")"
printf '%s\n' "$ABOUT" >"$NOTE"
sync

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: ssh/root-path.sh
# Writes stdin to TARGET with MODE: by a temporary name beside it, synced, checked against SHA256, then moved. Whatever
# fails on the way, the old file stays as it is and nothing else is left. The functions of root-path.sh stand before
# this script: where another user decides where TARGET leads, nothing is made or written. Root's link to a file stays a
# link; any other link (a masked unit) is replaced.
if [ -L "$TARGET" ] && [ -f "$TARGET" ]; then
  root_path "$TARGET" || refuse_path "$TARGET"
  TARGET=$real
fi
root_entry "$TARGET" make || refuse_path "$TARGET"
TARGET=$real
folder=${TARGET%/*}/
umask 077
temporary=$(mktemp -- "$folder.kbuild.XXXXXXXXXX")
trap 'rm -f -- "$temporary"' EXIT
# PIPE: an error message to a closed channel must not end this before it has cleaned up.
trap 'exit 1' HUP INT TERM PIPE
cat >"$temporary"
found=$(sha256sum <"$temporary")
if [ "${found%% *}" != "$SHA256" ]; then
  echo "what arrived for $TARGET is not what was sent" >&2
  exit 1
fi
chmod "$MODE" "$temporary"
sync -- "$temporary"
mv -fT -- "$temporary" "$TARGET"
# mktemp and mkdir give files the label of the folder above, which the policy may want to be another.
if [ -e /sys/fs/selinux/enforce ] && command -v restorecon >/dev/null; then restorecon -- "$folder" "$TARGET" || :; fi
sync -- "$folder"

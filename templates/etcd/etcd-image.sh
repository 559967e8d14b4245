# shellcheck shell=sh disable=SC2154  # parameters come from outside
# For the commands that follow: `mount_etcd_image` mounts the image that one of MANIFESTS names (`$manifest` is the one
# that was found), and `$(etcd_program NAME)` is the path of a program of it. The image has no shell, and its programs
# are static. Unmounts the image at the end, and deletes WORK if the commands fail. Uses the functions of
# templates/runtime/.
image=
finish() {
  status=${1:-$?}
  if [ -n "$image" ]; then
    runtime_unmount_image "$image" || umount "$image" 2>/dev/null || true
    rmdir "$image" 2>/dev/null || true
  fi
  if [ "$status" -ne 0 ]; then rm -rf -- "$WORK"; fi
  exit "$status"
}
mount_etcd_image() {
  trap finish EXIT
  trap 'exit 1' HUP INT TERM
  reference=
  for manifest in $MANIFESTS; do
    if [ -e "$manifest" ]; then
      if grep -q -- '--wal-dir' "$manifest"; then
        echo "$manifest has --wal-dir: kbuild cannot restore an etcd whose log lies in another folder" >&2
        exit 1
      fi
      reference=$(sed -n 's/^ *image: *//p' "$manifest" | head -n 1)
      break
    fi
  done
  image=$(mktemp -d -p /run kbuild-etcd.XXXXXX)
  runtime_mount_image "$reference" "$image"
}
etcd_program() {
  for path in "usr/local/bin/$1" "usr/bin/$1" "bin/$1"; do
    if [ -x "$image/$path" ]; then
      printf '%s\n' "$image/$path"
      return
    fi
  done
  echo "$reference has no $1" >&2
  exit 1
}

# shellcheck shell=sh
# Functions for scripts that empty or remove folders; they stand before such a script. A mount that is left in a folder
# shows files of another place: rm and find would delete them there. A bind mount has the same device number, so that
# neither `find -xdev` nor `rm --one-file-system` stops at it.

# Prints the mounts below the given folders, one a line.
mounts_below() {
  for folder; do
    if ! [ -d "$folder" ]; then continue; fi
    below=$(readlink -f -- "$folder")/ || return
    BELOW=$below awk 'index($5, ENVIRON["BELOW"]) == 1 { print $5 }' /proc/self/mountinfo || return
  done
}

# Prints those of the given paths that are mounts themselves.
mounts_at() {
  for path; do
    if ! [ -e "$path" ]; then continue; fi
    at=$(readlink -f -- "$path") || return
    AT=$at awk '$5 == ENVIRON["AT"] { print $5 }' /proc/self/mountinfo || return
  done
}

# Ends the script if there are mounts, one a line.
refuse_mounts() {
  if [ -z "$1" ]; then return 0; fi
  echo "still mounted in a folder that is to be emptied, nothing was deleted there:" \
    "$(printf '%s' "$1" | tr '\n' ' ')" >&2
  exit 32
}

# Ends the script if a mount is left below one of the given folders, which may be mounts themselves.
refuse_mounts_below() {
  left=$(mounts_below "$@") || exit 32
  refuse_mounts "$left"
}

# Removes files and folders. Ends the script before it removes anything if one of them is a mount, or has one in it.
remove_all() {
  left=$(mounts_at "$@" && mounts_below "$@") || exit 32
  refuse_mounts "$left"
  rm -rf --one-file-system -- "$@"
}

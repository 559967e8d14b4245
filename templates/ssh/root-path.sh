# shellcheck shell=sh
# Functions for scripts that read or write a file as root. They find out whether another user has a say in where a path
# leads. If root owns every folder and every link on the way, and no other user can write there, then only root can
# change the way: what was found about it stays true. A folder with the sticky bit, such as /tmp, is on the way to
# root's own folders: others cannot move those. There, links are not followed: with fs.protected_hardlinks=0 a user can
# put root's own link there.

# Folders that root alone can write to, each between two line feeds.
root_folders='
'

# Reads in $1 line by line `UID GID MODE NAME` (MODE in hexadecimal digits, of lstat), and notes the folders that root
# alone can write to. IFS is a line feed, and `set -f` is on.
note_root_folders() {
  for entry in $1; do
    uid=${entry%% *}
    entry=${entry#* }
    gid=${entry%% *}
    entry=${entry#* }
    mode=${entry%% *}
    name=${entry#* }
    if [ "$uid" != 0 ] || [ $((0x$mode & 0170000)) -ne $((0040000)) ] || [ $((0x$mode & 0002)) -ne 0 ]; then continue; fi
    if [ $((0x$mode & 0020)) -ne 0 ] && [ "$gid" != 0 ]; then continue; fi
    root_folders="$root_folders$name
"
  done
}

# Is the folder $1 root's own? Sets `shared` to `yes` if others can make files in it, but not move root's, and `why` if
# not. Owned by the user who runs this script is as good: on hosts that is root.
root_folder() {
  shared=
  case $root_folders in
    *"
$1
"*) return 0 ;;
  esac
  why="$1 cannot be observed"
  about=$(stat -c '%u %g %f %U' -- "$1") || return 1
  IFS=' ' read -r uid gid mode user <<END
$about
END
  if [ $((0x$mode & 0170000)) -ne $((0040000)) ]; then
    why="$1 is no folder"
    return 1
  fi
  if [ "$uid" != 0 ] && [ "$uid" != "$(id -u)" ]; then
    why="$1 belongs to $user (uid $uid)"
    return 1
  fi
  if [ $((0x$mode & 0002)) -ne 0 ] || { [ $((0x$mode & 0020)) -ne 0 ] && [ "$gid" != 0 ]; }; then
    if [ $((0x$mode & 01000)) -eq 0 ]; then
      why="users other than root can write to $1"
      return 1
    fi
    shared=yes
  fi
  why=
}

# Follows the absolute path $1 as the system does, and sets `real` to where it leads, without links. $2 `make`: makes
# folders that are missing on the way; otherwise `real` is then a path that does not exist. Fails if another user has a
# say in the way, and sets `why` to the component and the reason. `shared` is `yes` if others can make files in the last
# folder.
root_path() {
  rest=$1 real='' links=0
  while :; do
    while [ "${rest#/}" != "$rest" ]; do rest=${rest#/}; done
    if [ -z "$rest" ]; then return 0; fi
    part=${rest%%/*}
    case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
    case $part in
      .) continue ;;
      ..) real=${real%/*}; continue ;;
    esac
    if [ -n "$real" ] && [ ! -e "$real" ] && [ ! -L "$real" ]; then
      if [ "${2:-}" != make ]; then
        real=$real/$part${rest:+/$rest}
        return 0
      fi
      # Another process may be quicker: what is there then is observed like all else.
      mkdir -- "$real" 2>/dev/null || :
    fi
    root_folder "${real:-/}" || return 1
    real=$real/$part
    if [ ! -L "$real" ]; then continue; fi
    about=$(stat -c '%u %U' -- "$real") || about='? another user'
    if [ -n "$shared" ] || { [ "${about%% *}" != 0 ] && [ "${about%% *}" != "$(id -u)" ]; }; then
      why="$real is a link of ${about#* }${shared:+, in a folder that others can write to}"
      return 1
    fi
    links=$((links + 1))
    if [ "$links" -gt 40 ]; then
      why="$1 leads through too many links"
      return 1
    fi
    way=$(readlink -- "$real")
    real=${real%/*}
    case $way in /*) real= ;; esac
    rest=$way/$rest
  done
}

# The same for a path whose last component is not followed, as rm and mv -T do not: sets `real` to it, with its folder
# without links. $2: as above.
root_entry() {
  root_path "${1%/*}" "${2:-}" || return 1
  if [ -n "$real" ] && [ ! -e "$real" ] && [ ! -L "$real" ]; then
    if [ "${2:-}" != make ]; then
      real=$real/${1##*/}
      return 0
    fi
    mkdir -- "$real" 2>/dev/null || :
  fi
  root_folder "${real:-/}" || return 1
  real=$real/${1##*/}
}

# Ends the script with the status that kbuild reports as a refusal (REFUSED_STATUS in src/ssh/linux.ts). $1: what is
# refused.
refuse_path() {
  echo "$1: $why" >&2
  exit 117
}

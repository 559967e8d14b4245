
# Folders that root alone can write to, each between two line feeds.
root_folders='
'

# Reads line by line `UID GID MODE NAME` (MODE in hexadecimal digits, of lstat), and notes the folders that root alone can write to.
note_root_folders() {
  while IFS=' ' read -r uid gid mode name; do
    if [ "$uid" != 0 ] || [ $((0x$mode & 0170000)) -ne $((0040000)) ] || [ $((0x$mode & 0002)) -ne 0 ]; then continue; fi
    if [ $((0x$mode & 0020)) -ne 0 ] && [ "$gid" != 0 ]; then continue; fi
    root_folders="$root_folders$name
"
  done
}

# Is the folder $1 root's own? Sets `shared` to `yes` if others can make files in it, but not move root's, and `why` if not. Owned by the
# user who runs this script is as good: on hosts that is root.
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

# Follows the absolute path $1 as the system does, and sets `real` to where it leads, without links. $2 `make`: makes folders that are
# missing on the way; otherwise `real` is then a path that does not exist. Fails if another user has a say in the way, and sets `why` to
# the component and the reason. `shared` is `yes` if others can make files in the last folder.
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

# The same for a path whose last component is not followed, as rm and mv -T do not: sets `real` to it, with its folder without links.
# $2: as above.
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

# Ends the script with the status that kbuild reports as a refusal (REFUSED_STATUS in src/remote/files.ts). $1: what is refused.
refuse_path() {
  echo "$1: $why" >&2
  exit 117
}

PATHS='/etc/hosts
/etc/systemd/system/kubelet.service
/etc/systemd/system/kubelet.service.d/10-kubeadm.conf
/etc/apt/sources.list.d/x
/etc/apt/keyrings/x
/etc/modules-load.d/kbuild.conf
/etc/sysctl.d/99
/etc/containerd/config.toml
/etc/crictl.yaml
/var/lib/kbuild/trusted-cas
/etc/kubernetes/pki/etcd/ca.key
/etc/kubernetes/manifests/etcd.yaml
/etc/resolv.conf
/lib/systemd/system/ssh.service
/etc/kubernetes/f0
/etc/kubernetes/f1
/etc/kubernetes/f2
/etc/kubernetes/f3
/etc/kubernetes/f4
/etc/kubernetes/f5
/etc/kubernetes/f6
/etc/kubernetes/f7
/etc/kubernetes/f8
/etc/kubernetes/f9
/etc/kubernetes/f10
/etc/kubernetes/f11
/etc/kubernetes/f12
/etc/kubernetes/f13
/etc/kubernetes/f14
/etc/kubernetes/f15
/etc/kubernetes/f16
/etc/kubernetes/f17
/etc/kubernetes/f18
/etc/kubernetes/f19
/etc/kubernetes/f20
/etc/kubernetes/f21
/etc/kubernetes/f22
/etc/kubernetes/f23
/etc/kubernetes/f24
/etc/kubernetes/f25
/etc/kubernetes/f26
/etc/kubernetes/f27
/etc/kubernetes/f28
/etc/kubernetes/f29
/etc/kubernetes/f30
/etc/kubernetes/f31
/etc/kubernetes/f32
/etc/kubernetes/f33
/etc/kubernetes/f34
/etc/kubernetes/f35
/etc/kubernetes/f36
/etc/kubernetes/f37
/etc/kubernetes/f38
/etc/kubernetes/f39'
TREES=/etc/apt
IFS='
'
set -f
# One process observes nearly all folders on the way.
folders=$IFS
for path in $PATHS; do
  while path=${path%/*} && [ -n "$path" ]; do
    # The folders above it were found with it.
    case $folders in *"$IFS$path$IFS"*) break ;; esac
    folders=$folders$path$IFS
  done
done
note_root_folders <<END
$(stat -c '%u %g %f %n' -- / $folders 2>/dev/null || :)
END
set --
for path in $PATHS; do
  if ! root_path "$path"; then
    printf 'unsafe %s\nbecause %s\n' "$path" "$why"
  elif [ -f "$path" ]; then
    set -- "$@" "$path"
  elif [ -d "$path" ]; then
    stat -L -c 'folder %.Y %n' -- "$path"
  elif [ -e "$path" ]; then
    echo "other $path"
  else echo "absent $path"; fi
done
found=$(for tree in $TREES; do if [ -d "$tree" ]; then find "$tree" -type f; fi; done)
set -- "$@" $found
if [ $# -gt 0 ]; then
  stat -L -c 'stat %a %U:%G %.Y %n' -- "$@"
  sha256sum -- "$@"
fi

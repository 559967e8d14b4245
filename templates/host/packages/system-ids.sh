# shellcheck shell=sh disable=SC2034  # for the command that follows
# Sets `$ids`: what the system calls itself (ID of os-release), then the systems that it is like (ID_LIKE). A file that
# cannot be read ends the probe: the host is then unknown.
family='' ids='' like=''
while IFS='=' read -r key value || [ -n "$key" ]; do
  case $key in ID | ID_LIKE) ;; *) continue ;; esac
  case $value in
    \"*\" | \'*\') value=${value#?} value=${value%?} ;;
    *[\"\']*)
      echo "os-release cannot be read: $key=$value" >&2
      exit 1
      ;;
  esac
  case $key in ID) ids=$value ;; ID_LIKE) like=$value ;; esac
done </etc/os-release
ids="$ids $like"

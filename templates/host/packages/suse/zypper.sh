# shellcheck shell=sh disable=SC2154  # the scripts that follow set the rest
# Functions for scripts that call zypper.
export LC_ALL=C
# kbuild waits itself, and names the holder.
export ZYPP_LOCK_TIMEOUT=0

# Runs zypper without questions. Its status from 100 on informs: a reboot (102) or a second run (103) is wanted, a
# repository could not be read (106), a script of an installed package failed (107). 104, "not found", is an error.
run_zypper() {
  ended=0
  zypper -n "$@" || ended=$?
  case $ended in
    102 | 103) ended=0 ;;
    106) ended=0; echo 'zypper went on without a repository that it could not read' ;;
    107) ended=0; echo 'zypper installed the packages, and a script of one of them failed' ;;
  esac
  return "$ended"
}
is_locked() { [ "$1" -eq 7 ]; }

# Prints the holder of zypper's lock. A dead process holds nothing.
holders() {
  pid=$(cat /run/zypp.pid 2>/dev/null) || return 0
  [ -z "$pid" ] || [ ! -e "/proc/$pid/comm" ] || echo "/run/zypp.pid is held by process $pid ($(cat "/proc/$pid/comm"))"
}

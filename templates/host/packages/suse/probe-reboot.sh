# shellcheck shell=sh
# Prints "pending" if an update needs a reboot: zypper's status is then 102. It does not say for which packages. The
# variable lets zypper read while another zypper works.
status=0
answer=$(LC_ALL=C ZYPP_READONLY_HACK=1 zypper -n needs-rebooting 2>&1) || status=$?
case $status in
  0) ;;
  102) echo pending ;;
  *)
    echo "$answer" >&2
    exit 1
    ;;
esac

# shellcheck shell=sh
# Prints "pending" and the packages that need a reboot; nothing if none does. dnf5's status is 1 if a reboot is needed,
# and 2 if it has no such command: then no program on the host knows it. -C: the answer may not depend on a repository
# that is reached.
status=0
reasons=$(LC_ALL=C dnf5 -q -C needs-restarting 2>&1) || status=$?
case $reasons in *'Unknown argument "needs-restarting"'*)
  echo 'dnf5 needs-restarting is missing: dnf install dnf5-plugins' >&2
  exit 1
  ;;
esac
case $reasons in *'Reboot is required'*)
  echo pending
  echo "$reasons" | sed -n 's/^ *[*] *//p'
  exit 0
  ;;
esac
if [ "$status" -ne 0 ]; then
  echo "$reasons" >&2
  exit 1
fi

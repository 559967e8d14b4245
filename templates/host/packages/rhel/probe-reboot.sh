# shellcheck shell=sh
# Prints "pending" and the components that need a reboot; nothing if none does. dnf's status is 1 if a reboot is needed,
# and also if it has no such plugin: then no program on the host knows it.
status=0
reasons=$(LC_ALL=C dnf -q needs-restarting -r 2>&1) || status=$?
case $reasons in *'No such command'*)
  echo 'dnf needs-restarting is missing: dnf install dnf-plugins-core' >&2
  exit 1
  ;;
esac
if [ "$status" -eq 1 ]; then
  echo pending
  echo "$reasons" | sed -n 's/^ *[*] *//p'
elif [ "$status" -ne 0 ]; then
  echo "$reasons" >&2
  exit 1
fi

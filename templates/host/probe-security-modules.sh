# shellcheck shell=sh
# Prints whether SELinux is enforcing (1 or 0), and whether AppArmor is on; `toolless` without the parser of its
# profiles.
if [ -e /sys/fs/selinux/enforce ]; then
  enforces=
  read -r enforces </sys/fs/selinux/enforce || [ -n "$enforces" ]
  echo "selinux $enforces"
fi
enabled=
if [ -e /sys/module/apparmor/parameters/enabled ]; then read -r enabled </sys/module/apparmor/parameters/enabled || :; fi
if [ "$enabled" = Y ]; then
  if command -v apparmor_parser >/dev/null; then echo apparmor on; else echo apparmor toolless; fi
fi

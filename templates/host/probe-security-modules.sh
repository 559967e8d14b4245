# shellcheck shell=sh
# Prints whether SELinux is enforcing (1 or 0), and whether AppArmor is on; `toolless` without the parser of its
# profiles.
if [ -e /sys/fs/selinux/enforce ]; then echo "selinux $(cat /sys/fs/selinux/enforce)"; fi
if [ "$(cat /sys/module/apparmor/parameters/enabled 2>/dev/null)" = Y ]; then
  if command -v apparmor_parser >/dev/null; then echo apparmor on; else echo apparmor toolless; fi
fi

# shellcheck shell=sh
# Prints what zram-generator makes of its configuration: `on`, `off`, or `absent` where it is not installed.
own=/etc/systemd/zram-generator.conf
if [ -e $own ]; then
  if grep -q '^ *[[]zram' $own; then echo on; else echo off; fi
elif [ -e /usr/lib/systemd/zram-generator.conf ] || [ -e /usr/local/lib/systemd/zram-generator.conf ]; then
  echo on
else echo absent; fi

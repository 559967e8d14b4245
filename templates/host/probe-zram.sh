# shellcheck shell=sh
# Prints what zram-generator makes of its configuration: `on`, `off`, or `absent` where it is not installed.
own=/etc/systemd/zram-generator.conf
if [ -e $own ]; then
  state=off
  # `read` leaves out the spaces before the words.
  while read -r line || [ -n "$line" ]; do
    case $line in '[zram'*) state=on ;; esac
  done <$own
  echo $state
elif [ -e /usr/lib/systemd/zram-generator.conf ] || [ -e /usr/local/lib/systemd/zram-generator.conf ]; then
  echo on
else echo absent; fi

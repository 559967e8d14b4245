# shellcheck shell=sh
# uses: host/show-text.sh host/is-active.sh
# Prints /etc/resolv.conf, then, where systemd-resolved runs, `active` and the configuration that it writes for others.
if [ -e /etc/resolv.conf ]; then show_text /etc/resolv.conf; fi
echo ---
if is_active systemd-resolved; then
  echo active
  if [ -e /run/systemd/resolve/resolv.conf ]; then show_text /run/systemd/resolve/resolv.conf; fi
fi

# shellcheck shell=sh
# Prints /etc/resolv.conf, then, where systemd-resolved runs, `active` and the configuration that it writes for others.
if [ -e /etc/resolv.conf ]; then cat /etc/resolv.conf; fi
echo ---
if systemctl -q is-active systemd-resolved 2>/dev/null; then
  echo active
  if [ -e /run/systemd/resolve/resolv.conf ]; then cat /run/systemd/resolve/resolv.conf; fi
fi

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: host/show-text.sh host/is-active.sh
# Prints /etc/resolv.conf, then, where systemd-resolved runs, `active` and the configuration that it writes for others,
# then, if the inventory names a file for the kubelet (RESOLV_CONF; empty: none), `there` and the file, or `missing`.
if [ -e /etc/resolv.conf ]; then show_text /etc/resolv.conf; fi
echo ---
if is_active systemd-resolved; then
  echo active
  if [ -e /run/systemd/resolve/resolv.conf ]; then show_text /run/systemd/resolve/resolv.conf; fi
fi
if [ -n "$RESOLV_CONF" ]; then
  echo ---
  if [ -f "$RESOLV_CONF" ]; then
    echo there
    show_text "$RESOLV_CONF"
  else
    echo missing
  fi
fi

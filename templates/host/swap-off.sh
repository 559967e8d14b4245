# Takes one source of swap away. ZRAM: path of a configuration that makes zram-generator do nothing. UNITS: units to
# mask. FSTAB_BACKUP: where /etc/fstab is copied before its swap lines are commented. ACTIVE: not empty turns all swap
# off now.
if [ -n "$ZRAM" ]; then
  printf '%s\n' '# Written by kbuild: no zram swap.' >"$ZRAM.new"
  mv -- "$ZRAM.new" "$ZRAM"
  systemctl daemon-reload
  for unit in $(systemctl list-units --plain --no-legend --all 'systemd-zram-setup@*.service' | awk '{ print $1 }'); do
    systemctl stop "dev-$(echo "$unit" | sed 's/.*@\(.*\)[.]service/\1/').swap" "$unit" || true
  done
fi

for unit in $UNITS; do
  case $unit in
    # Stopping the service would take its swap away, but not every one of them does.
    *.service) systemctl disable "$unit" ;;
    *) ;;
  esac
  systemctl stop "$unit" || true
  systemctl mask "$unit"
done

if [ -n "$FSTAB_BACKUP" ]; then
  if [ ! -e "$FSTAB_BACKUP" ]; then cp -p /etc/fstab "$FSTAB_BACKUP"; fi
  cp -p /etc/fstab /etc/fstab.kbuild-new
  awk '$1 !~ /^#/ && $3 == "swap" { print "# kbuild: no swap # " $0; next } { print }' /etc/fstab >/etc/fstab.kbuild-new
  sync -f /etc/fstab.kbuild-new
  mv /etc/fstab.kbuild-new /etc/fstab
  # systemd has made units of the lines.
  systemctl daemon-reload
fi

if [ -n "$ACTIVE" ]; then swapoff -a; fi

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Takes back what kbuild wrote. FILES: paths, one a line. CONTAINERD_CONFIG, CONTAINERD_BACKUP: the configuration and what it
# was before. RECORD: paths of distributed files, one a line; KEPT: the folder of what was there before them. FSTAB_BACKUP: there when swap lines of /etc/fstab were commented. CERTS_D: a folder whose empty folders go too.
# BACKUPS: other configurations as they were, named as the file with .kbuild-backup at the end.
if [ -e "$RECORD" ]; then
  while read -r file; do
    if [ -e "$KEPT$file" ]; then mv -- "$KEPT$file" "$file"; else rm -f -- "$file"; fi
  done <"$RECORD"
fi

if [ -f "$FSTAB_BACKUP" ]; then
  cp -p /etc/fstab /etc/fstab.kbuild-new
  sed 's/^# kbuild: no swap # //' /etc/fstab >/etc/fstab.kbuild-new
  sync /etc/fstab.kbuild-new
  mv /etc/fstab.kbuild-new /etc/fstab
fi

runtime=no
printf '%s\n' "$FILES" | {
  while read -r file; do
    case $file in
      "$CONTAINERD_BACKUP" | */haproxy.cfg.kbuild-backup | */keepalived.conf.kbuild-backup) ;;
      "$CONTAINERD_CONFIG") runtime=yes; rm -f -- "$file" ;;
      *) remove_all "$file" ;;
    esac
    case $file in
      "$CERTS_D"/*) rmdir -- "$(dirname "$file")" 2>/dev/null || true ;;
    esac
  done
  if [ -f "$CONTAINERD_BACKUP" ]; then runtime=yes; mv -- "$CONTAINERD_BACKUP" "$CONTAINERD_CONFIG"; fi
  printf '%s\n' "$BACKUPS" | while read -r backup; do
    if [ -f "$backup" ]; then mv -- "$backup" "${backup%.kbuild-backup}"; fi
  done
  rmdir -- "$CERTS_D" 2>/dev/null || true
  systemctl daemon-reload
  # Containers of others go on: their shims do not belong to the daemon.
  if [ $runtime = yes ]; then systemctl try-restart containerd || true; fi
}

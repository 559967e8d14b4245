# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: ssh/root-path.sh kubeadm/mounts.sh
# Removes files that kbuild wrote. FILES: paths, one a line. RUNTIME: unit of the container runtime (empty: it is not
# restarted); RUNTIME_CONFIG: its configuration; RUNTIME_BACKUP: its former content (empty: no copy is kept).
# REGISTRIES: a folder of registry files, whose empty folders are removed too; REGISTRIES_USE: `whole` if it is removed
# itself when it is empty, `shared` if others have files there. RECORD: paths of distributed files, one a line; KEPT:
# the folder of the files before them. FSTAB_BACKUP: there if swap lines of /etc/fstab were commented out. BACKUPS:
# other configurations as they were, named as the file with .kbuild-backup at the end. The functions of root-path.sh and
# mounts.sh stand before this script: a distributed file stays where another user decides where its path leads.
if [ -e "$RECORD" ]; then
  while read -r file; do
    if ! root_entry "$file" make; then
      echo "$file stays: $why"
    elif [ -e "$KEPT$file" ]; then
      mv -fT -- "$KEPT$file" "$real"
    else
      rm -f -- "$real"
    fi
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
      "$RUNTIME_BACKUP" | */haproxy.cfg.kbuild-backup | */keepalived.conf.kbuild-backup) ;;
      "$RUNTIME_CONFIG") runtime=yes; rm -f -- "$file" ;;
      *) remove_all "$file" ;;
    esac
    case $file in
      "$REGISTRIES"/* | /etc/systemd/system/*.d/*) rmdir -- "$(dirname "$file")" 2>/dev/null || true ;;
    esac
  done
  if [ -f "$RUNTIME_BACKUP" ]; then runtime=yes; mv -- "$RUNTIME_BACKUP" "$RUNTIME_CONFIG"; fi
  printf '%s\n' "$BACKUPS" | while read -r backup; do
    if [ -f "$backup" ]; then mv -- "$backup" "${backup%.kbuild-backup}"; fi
  done
  if [ "$REGISTRIES_USE" = whole ]; then rmdir -- "$REGISTRIES" 2>/dev/null || true; fi
  systemctl daemon-reload
  # Containers of others go on: their shims do not belong to the daemon.
  if [ $runtime = yes ] && [ -n "$RUNTIME" ]; then systemctl try-restart "$RUNTIME" || true; fi
}

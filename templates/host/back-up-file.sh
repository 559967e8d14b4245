# Copies a file that is not kbuild's own, once. FILE, BACKUP: paths. OURS: the first words of a file of kbuild's.
if [ -f "$FILE" ] && [ ! -e "$BACKUP" ] && ! grep -qF -- "$OURS" "$FILE"; then
  cp -p -- "$FILE" "$BACKUP.new"
  mv -- "$BACKUP.new" "$BACKUP"
fi

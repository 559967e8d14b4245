# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Keeps an authority of kubeadm beside itself before it is rotated: as NAME-old, and as NAME-signing for the controller
# manager, which accepts one certificate only. `new.key` and `new.END` in the working directory, if they are there,
# become NAME-new, `old.key` and `old.END` NAME-old. A job. Parameters: NAME (the authority's file below the folder pki,
# without its ending), END (crt; pub for a key without certificate), KEPT (words: old, signing).
umask 077
file=/etc/kubernetes/pki/$NAME
put() {
  install -m 0600 -o root -g root -- "$1" "$2.kbuild-new"
  sync -- "$2.kbuild-new"
  mv -f -- "$2.kbuild-new" "$2"
}
# Each certificate comes after its key: it says that the key is there.
if [ -e "old.$END" ]; then
  put old.key "$file-old.key"
  put "old.$END" "$file-old.$END"
fi
for what in $KEPT; do
  if [ ! -e "$file-$what.$END" ]; then
    put "$file.key" "$file-$what.key"
    put "$file.$END" "$file-$what.$END"
  fi
done
if [ -e "new.$END" ]; then
  put new.key "$file-new.key"
  put "new.$END" "$file-new.$END"
fi
sync -- "$(dirname -- "$file.$END")"

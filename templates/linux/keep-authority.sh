# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Keeps an authority of kubeadm beside itself before it is rotated: as NAME-old, and as NAME-signing for the controller manager, which
# accepts one certificate only. `new.key` and `new.crt` in the working directory, if they are there, become NAME-new. A job.
# Parameter: NAME (the authority's file below the folder pki, without its ending).
umask 077
file=/etc/kubernetes/pki/$NAME
put() {
  install -m 0600 -o root -g root -- "$1" "$2.kbuild-new"
  sync -- "$2.kbuild-new"
  mv -f -- "$2.kbuild-new" "$2"
}
# Each certificate comes after its key: it says that the key is there.
for what in old signing; do
  if [ ! -e "$file-$what.crt" ]; then
    put "$file.key" "$file-$what.key"
    put "$file.crt" "$file-$what.crt"
  fi
done
if [ -e new.crt ]; then
  put new.key "$file-new.key"
  put new.crt "$file-new.crt"
fi
sync -- "$(dirname -- "$file.crt")"

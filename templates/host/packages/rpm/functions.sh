# shellcheck shell=sh disable=SC2034,SC2154  # the scripts that follow use these, and set their parameters
# Functions for scripts of package managers over rpm. SOURCES: files that describe repositories. KEYS: a file with the
# keys that kbuild imports into rpm's database: reset takes these out again, and no others. UNPACK: where the program
# kubeadm goes.

# The name of the repository that the file $1 describes; nothing if there is no such file.
id_of() { sed -n 's/^\[\(.*\)\]$/\1/p' "$1" 2>/dev/null || :; }

# The keys in rpm's database. Without any, `rpm -q` says so in words on stdout, and `rpm -e gpg-pubkey` takes out all.
own_keys() { rpm -q gpg-pubkey | grep '^gpg-pubkey-' | sort || :; }

# rpm checks signatures with the keys in its own database. An import replaces an older copy of the same key.
import_keys() {
  before=$(own_keys)
  for source in $SOURCES; do
    sed -n 's|^gpgkey=file://||p' "$source" | while read -r key; do rpm --import "$key"; done
  done
  after=$(own_keys)
  mkdir -p "$(dirname "$KEYS")"
  for key in $after; do
    case "
$before
" in *"
$key
"*) ;; *) echo "$key" >>"$KEYS" ;; esac
  done
}

# Takes out of rpm's database what import_keys has put there.
take_out_keys() {
  if ! [ -e "$KEYS" ]; then return 0; fi
  while read -r key; do
    case $key in gpg-pubkey-*) if rpm -q "$key" >/dev/null 2>&1; then rpm -e "$key"; fi ;; esac
  done <"$KEYS"
  rm -f -- "$KEYS"
}

# Names of packages of which an interrupted transaction has left two versions, one a line. Keys, kernels and their
# modules are installed side by side on purpose; packages of modules say so themselves.
installed_twice() {
  rpm -qa --qf '%{NAME}.%{ARCH}\n' | grep -vE '^(kernel|gpg-pubkey)' | sort | uniq -d | while read -r name; do
    rpm -q --provides "$name" | grep -qE '^(multiversion|installonlypkg)\(' || echo "$name"
  done
}
is_interrupted() { installed_twice | grep -q .; }

# Unpacks the program kubeadm from the package $1 to $UNPACK.
unpack_program() {
  rpm2cpio "$1" | cpio -i --quiet --to-stdout ./usr/bin/kubeadm >"$UNPACK"
  [ -s "$UNPACK" ] || { echo "$1 has no /usr/bin/kubeadm" >&2; return 1; }
  chmod 0755 "$UNPACK"
}

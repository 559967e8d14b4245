# Lets dnf upgrade and remove the packages NAMES again, and takes the keys out of rpm's database that kbuild has put there (KEYS: the
# file that names them). `versionlock delete` ends well where a package is not locked.
# shellcheck disable=SC2086  # a list
for name in $NAMES; do dnf -q --setopt=exit_on_lock=True versionlock delete "$name"; done
if [ -e "$KEYS" ]; then
  while read -r key; do
    if rpm -q "$key" >/dev/null 2>&1; then rpm -e "$key"; fi
  done <"$KEYS"
  rm -f -- "$KEYS"
fi

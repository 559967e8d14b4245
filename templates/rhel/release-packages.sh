# Lets dnf upgrade and remove the packages NAMES again, and takes the keys out of rpm's database that kbuild has put there (see
# rpm/functions.sh). `versionlock delete` ends well where a package is not locked.
# shellcheck disable=SC2086  # a list
for name in $NAMES; do dnf -q --setopt=exit_on_lock=True versionlock delete "$name"; done
take_out_keys

# Lets dnf upgrade and remove the packages NAMES again, and takes the keys out of rpm's database that kbuild has put there (see
# rpm/functions.sh). `versionlock delete` ends well where a package is not locked. Waits for another dnf. The functions of
# rpm/functions.sh, of linux/package-transaction.sh and of rhel/dnf4.sh or rhel/dnf5.sh stand before this script.
if has_locks; then
  # shellcheck disable=SC2086  # a list
  for name in $NAMES; do patiently run_dnf -q versionlock delete "$name"; done
fi
take_out_keys

# uses: host/packages/package-transaction.sh
# given: rpm dnf
# Lets dnf upgrade and remove the packages NAMES again, and takes the keys out of rpm's database that kbuild has put
# there (see host/packages/rpm/functions.sh). `versionlock delete` ends well where a package is not locked. Waits for
# another dnf. The functions of host/packages/rpm/functions.sh, of host/packages/package-transaction.sh and of
# host/packages/rhel/dnf4.sh or host/packages/rhel/dnf5.sh stand before this script.
if has_locks; then
  # shellcheck disable=SC2086  # a list
  for name in $NAMES; do patiently run_dnf -q versionlock delete "$name"; done
fi
take_out_keys

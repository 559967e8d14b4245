# uses: host/packages/rpm/functions.sh host/packages/suse/zypper.sh host/packages/package-transaction.sh
# Lets zypper upgrade and remove the packages NAMES again, and takes the keys out of rpm's database that kbuild has put
# there. `removelock` ends well where a package is not locked. Waits for another zypper. The functions of
# host/packages/rpm/functions.sh, host/packages/suse/zypper.sh and host/packages/package-transaction.sh stand before
# this script.
# shellcheck disable=SC2086  # a list
patiently run_zypper removelock $NAMES
take_out_keys

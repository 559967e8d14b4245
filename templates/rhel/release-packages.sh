# Lets dnf upgrade and remove the packages NAMES again. `versionlock delete` ends well where a package is not locked.
# shellcheck disable=SC2086  # a list
for name in $NAMES; do dnf -q versionlock delete "$name"; done

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the path that the API server's manifest names for its EncryptionConfiguration; nothing without one. Parameter:
# MANIFEST.
sed -n 's/^ *- --encryption-provider-config=//p' "$MANIFEST" | tr -d "\"'" | head -n 1

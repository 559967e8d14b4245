#!/usr/bin/env bash
# Installs Debian's packages of all programs that tests beside the lab need (test/needs/table.ts).
set -euo pipefail
missing=()
for package in $("$(dirname "$0")/../node_modules/.bin/tsx" "$(dirname "$0")/needs/list.ts"); do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
  echo "the tests need ${missing[*]}: apt-get install ${missing[*]}" >&2
  exit 2
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"

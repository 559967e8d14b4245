#!/usr/bin/env bash
# Installs Debian's packages that the tests beside the lab need: a real sshd and ssh, every shell that quoting and completion are
# tried in, shellcheck, what reads manual pages, tmux, a browser, which opens reports, and age, which must open what kbuild encrypts.
set -euo pipefail
missing=()
for package in openssh-server openssh-client dash busybox-static shellcheck fish zsh tcsh groff-base mandoc tmux chromium fonts-dejavu-core age; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
  echo "the tests need ${missing[*]}: apt-get install ${missing[*]}" >&2
  exit 2
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"

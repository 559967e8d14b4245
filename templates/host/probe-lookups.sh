# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the addresses that the host's resolver has for its own name (as `own`), `localhost` and NAMES (one a line):
# `NAME known ADDRESSES`, or `NAME silent` if no answer came in time. An address may stand there several times. Then, as
# `/etc/hosts`, the addresses that this file has for localhost. DATABASE of getent: ahostsv4, or ahosts for IPv6 too.
resolve() {
  status=0
  found=$(timeout 3 getent "$DATABASE" "$2") || status=$?
  if [ $status = 124 ]; then
    echo "$1 silent"
    return 0
  fi
  addresses=
  for line in $found; do addresses="$addresses ${line%%[[:space:]]*}"; done
  echo "$1 known$addresses"
}
own=
read -r own </proc/sys/kernel/hostname || :
set -- "$own" localhost $NAMES
IFS='
'
set -f
# One process for all: the first line of each name that is known shows a name behind the kind of socket. If one of them
# is not known, or not in time, it does not tell which.
answers='' first=''
if found=$(timeout 3 getent "$DATABASE" "$@"); then
  for line in $found; do
    case $line in *[A-Z]' '[!\ ]*) answers="$answers$first" first=$IFS ;; esac
    answers="$answers ${line%%[[:space:]]*}"
  done
fi
count=0
for line in $answers; do count=$((count + 1)); done
if [ $count = $# ]; then
  shift
  name=own
  for line in $answers; do
    echo "$name known$line"
    name=${1-}
    if [ $# -gt 0 ]; then shift; fi
  done
else
  shift
  # At once: each may take its three seconds.
  resolve own "$own" &
  for name in "$@"; do resolve "$name" "$name" & done
  wait
fi
IFS=' 	'
found=
if [ -r /etc/hosts ]; then
  while read -r address names || [ -n "$address" ]; do
    case $address in '#'*) continue ;; esac
    case " ${names%%#*} " in *[[:space:]]localhost[[:space:]]*) found="$found $address" ;; esac
  done </etc/hosts
fi
echo "/etc/hosts known$found"

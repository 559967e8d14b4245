# shellcheck shell=sh
# Prints the state of cloud-init: absent, running, done or failed.
if ! [ -e /run/cloud-init/status.json ]; then echo absent
elif ! [ -e /run/cloud-init/result.json ]; then echo running
else
  state=failed
  while read -r line || [ -n "$line" ]; do
    case $line in *'"errors": []'*) state='done' ;; esac
  done </run/cloud-init/result.json
  echo $state
fi

# shellcheck shell=sh
# Prints the state of cloud-init: absent, running, done or failed.
if ! [ -e /run/cloud-init/status.json ]; then echo absent
elif ! [ -e /run/cloud-init/result.json ]; then echo running
elif grep -q '"errors": \[\]' /run/cloud-init/result.json; then echo "done"; else echo failed; fi

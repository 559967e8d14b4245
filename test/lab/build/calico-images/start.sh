#!/bin/sh
# What runit and /etc/rc.local of Calico's own image do where there is no BGP: each program runs again when it ends.
calico-node -startup || exit 1
NODENAME=$(cat /var/lib/calico/nodename) || exit 1
calico-node -allocate-tunnel-addrs -allocate-tunnel-addrs-run-once || exit 1
export NODENAME FELIX_FELIXHOSTNAME="$NODENAME"
[ -z "$DATASTORE_TYPE" ] || export FELIX_DATASTORETYPE="$DATASTORE_TYPE"
case $CALICO_NETWORKING_BACKEND in vxlan | none) ;; *) echo 'this image has no BIRD: no BGP' >&2 ;; esac
for task in -felix -monitor-addresses -allocate-tunnel-addrs -status-reporter -monitor-token; do
  while :; do
    calico-node "$task"
    sleep 1
  done &
done
wait

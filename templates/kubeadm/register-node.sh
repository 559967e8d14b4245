# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Registers a deleted node again by restarting the kubelet. Parameters, one a line: INTERFACES and FILES of the deleted
# node's pod network. They go first: with the old file, the first new pod would give the bridge its old address, and no
# later pod could start. Kubernetes has already deleted the pods of the deleted node.
systemctl stop kubelet
for interface in $INTERFACES; do if ip link show "$interface" >/dev/null 2>&1; then ip link delete "$interface"; fi; done
for file in $FILES; do rm -f -- "$file"; done
systemctl start kubelet

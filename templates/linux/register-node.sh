# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Lets a kubelet register its node again. Parameters, one a line: INTERFACES and FILES of the pod network that the deleted node
# had. No pod of the deleted node is left in the cluster. A pod that started before the network plugin has the new node's network
# would give the bridge the old one again, and no later pod starts.
systemctl stop kubelet
for interface in $INTERFACES; do if ip link show "$interface" >/dev/null 2>&1; then ip link delete "$interface"; fi; done
for file in $FILES; do rm -f -- "$file"; done
systemctl start kubelet

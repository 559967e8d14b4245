# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Lets a kubelet register its node again. Parameters: BRIDGE (an interface of the pod network that the deleted node had) and SUBNET
# (a file that tells the CNI plugin that network); empty: none. No pod of the deleted node is left in the cluster. A pod that
# started before the network plugin has the new node's network would give the bridge the old one again, and no later pod starts.
systemctl stop kubelet
if [ -n "$BRIDGE" ] && ip link show "$BRIDGE" >/dev/null 2>&1; then ip link delete "$BRIDGE"; fi
if [ -n "$SUBNET" ]; then rm -f -- "$SUBNET"; fi
systemctl start kubelet

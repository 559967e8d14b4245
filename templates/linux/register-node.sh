# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Lets a kubelet register its node again. Parameters: BRIDGE (an interface of the pod network that the deleted node had; empty:
# none). No pod of the deleted node is left in the cluster, so that nothing needs the bridge.
systemctl stop kubelet
if [ -n "$BRIDGE" ] && [ -e "/sys/class/net/$BRIDGE" ]; then ip link delete "$BRIDGE"; fi
systemctl start kubelet

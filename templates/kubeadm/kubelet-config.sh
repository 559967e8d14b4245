# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Writes the kubelet's configuration from the cluster's and the host's patches; the kubelet reads it when it starts.
# Parameters: PATCHES (a folder), FLAGS (the whole of KUBELET_KUBEADM_ARGS).
if [ -d "$PATCHES" ]; then kubeadm upgrade node phase kubelet-config --patches "$PATCHES"; else kubeadm upgrade node phase kubelet-config; fi
flags=/var/lib/kubelet/kubeadm-flags.env
printf 'KUBELET_KUBEADM_ARGS="%s"\n' "$FLAGS" >"$flags.new"
sync "$flags.new"
mv "$flags.new" "$flags"

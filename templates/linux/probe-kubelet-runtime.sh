# shellcheck shell=sh
# Prints the CRI endpoints that the host's kubelet was given, the one that it uses first: that of the flag, then that of kubeadm's
# file for the host, then that of the cluster. Nothing on a host that has not joined.
for file in kubeadm-flags.env instance-config.yaml config.yaml; do
  if [ -f "/var/lib/kubelet/$file" ]; then
    sed -nE 's/.*(--container-runtime-endpoint=|containerRuntimeEndpoint:) *"?([^" ]+).*/\2/p' "/var/lib/kubelet/$file"
  fi
done

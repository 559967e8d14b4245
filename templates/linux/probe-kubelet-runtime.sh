# shellcheck shell=sh
# Prints the CRI endpoints that the host's kubelet was given, the one that it uses first: that of the flag, then that of kubeadm's
# file for the host, then that of the cluster. Nothing on a host that has not joined.
for file in /var/lib/kubelet/kubeadm-flags.env /var/lib/kubelet/instance-config.yaml /var/lib/kubelet/config.yaml /etc/kubernetes/etcd-kubelet.yaml; do
  if [ -f "$file" ]; then
    sed -nE 's/.*(--container-runtime-endpoint=|containerRuntimeEndpoint:) *"?([^" ]+).*/\2/p' "$file"
  fi
done
